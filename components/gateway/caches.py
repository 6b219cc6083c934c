"""Where a KV cache lies is a word between replicas: a client that says it is refused.

An engine of a divided model takes that word from a request's body. A tenant could make it look for a cache anywhere,
keep its own cache for nobody, or end it by a word of the wrong form.
"""

from components.gateway.filters import SCRIPT, Filter, typed

# The key and nothing else: within a text its quotes would be escaped. JSON lets letters be written as \u00XX.
REFUSED = r"""
function envoy_on_request(handle)
  local body = handle:body()
  if body == nil or body:length() == 0 then return end
  local text = body:getBytes(0, body:length())
  if string.find(text, "\\u00", 1, true) then
    text = string.gsub(text, "\\u00([5-7]%x)", function(code)
      local letter = string.char(tonumber(code, 16))
      if string.find(letter, "[%l_]") then return letter end
    end)
  end
  if string.find(text, "_transfer_params", 1, true) and string.find(text, '"%l%l_transfer_params"%s*:') then
    handle:respond({[":status"] = "400"}, "where a cache lies is not a client's to say")
  end
end
"""


def no_word_of_caches() -> Filter:
    """The filter, after the one that holds a body until it is whole."""
    return typed(SCRIPT, "http.lua.v3.Lua", default_source_code={"inline_string": REFUSED})
