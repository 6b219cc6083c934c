"""What a model whose replicas hand caches to each other must not be told, and cannot be asked.

Where a KV cache lies is a word between replicas, which an engine takes from a request's body. A tenant could make it
look for a cache anywhere, keep its own cache for nobody, or end it by a word of the wrong form.

And of several prompts in one request the first one's cache alone is named (vLLM 0.30, openai/completion/serving.py):
the others would be answered from it.
"""

import json
from collections.abc import Collection

from components.gateway.filters import SCRIPT, Filter, typed

# The key and nothing else: within a text its quotes would be escaped. JSON lets letters be written as \u00XX.
READING = r"""
local function several(text)
  local _, at = string.find(text, '"prompt"%s*:%s*%[%s*')
  if at == nil then return false end
  if string.find(text, "^%[[^%]]*%]%s*,", at + 1) then return true end
  if string.sub(text, at + 1, at + 1) ~= '"' then return false end
  local place = at + 2
  while true do
    local stop = string.find(text, '[\\"]', place)
    if stop == nil then return false end
    if string.sub(text, stop, stop) == '"' then return string.find(text, "^%s*,", stop + 1) ~= nil end
    place = stop + 2
  end
end

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
  elseif ONE_PROMPT[string.match(handle:headers():get(":path"), "^[^?]*")] and several(text) then
    handle:respond({[":status"] = "400"}, "this model takes one prompt a request")
  end
end
"""


def reading(models: Collection[str], divided: Collection[str]) -> Filter:
    """The filter, after the one that holds a body until it is whole; of the site's models, some are divided."""
    ways = [f"/{model}" for model in sorted(divided)] + [""] * (len(models) == 1)
    paths = ", ".join(f"[{json.dumps(f'{way}/v1/completions')}] = true" for way in ways)
    code = f"local ONE_PROMPT = {{{paths}}}\n{READING}"
    return typed(SCRIPT, "http.lua.v3.Lua", default_source_code={"inline_string": code})
