"""Where a KV cache lies is no client's to say: through the real Envoy, whatever the word is written like."""

import json

import pytest
from waiting import until

CHAT = "/llama/v1/chat/completions"
WORD = {"do_remote_prefill": True, "remote_host": "10.0.0.9", "remote_block_ids": "no list"}


@pytest.fixture
def proxy(start):
    return start(told={"divided": ["llama"]})


def send(proxy, body: str):
    return proxy.client().post(CHAT, content=body, headers={"content-type": "application/json"})


@pytest.mark.parametrize(
    "body",
    [
        json.dumps({"model": "llama", "kv_transfer_params": WORD}),
        json.dumps({"model": "llama", "ec_transfer_params": WORD}),
        json.dumps({"model": "llama", "kv_transfer_params": WORD}, indent=2).replace(":", " \n\t:"),
        json.dumps({"model": "llama", "kv_transfer_params": WORD}).replace("kv_", "\\u006bv\\u005F"),
        json.dumps({"text": "x" * 500_000, "kv_transfer_params": WORD}),
    ],
    ids=["plain", "of an encoder", "spaced", "escaped", "behind much"],
)
def test_a_client_that_says_where_a_cache_lies_is_refused(proxy, body):
    assert "transfer" in json.loads(body).popitem()[0]  # JSON reads it as that key
    answer = send(proxy, body)
    assert answer.status_code == 400
    assert "cache" in answer.json()["error"]["message"]
    assert not proxy.engines["llama"].seen


@pytest.mark.parametrize(
    "text",
    ["kv_transfer_params", '"kv_transfer_params": 1', "\u00fcber \u006b", 'a \\"kv_transfer_params\\": b', "plain"],
)
def test_whoever_only_speaks_of_it_is_answered(proxy, text):
    for ascii_only in (True, False):
        answer = send(proxy, json.dumps({"model": "llama", "messages": [text]}, ensure_ascii=ascii_only))
        assert answer.status_code == 200, answer.text
    assert len(proxy.engines["llama"].seen) == 2


def test_what_has_no_body_and_who_has_no_key_need_none(proxy):
    assert proxy.client().get("/llama/v1/models").status_code == 200
    assert proxy.client(None).post(CHAT, content="{}").status_code == 401


def test_a_door_whose_engine_is_gone_is_left_out(proxy):
    """Whatever the door says of itself: the way past the pickers would lead there."""
    proxy.engines["llama"].refuses = 503
    client = proxy.client()
    until(lambda: "no healthy" in client.post(CHAT, json={"model": "llama"}).text)


def test_a_site_without_divided_models_reads_no_body_for_it(start):
    proxy = start()
    assert send(proxy, json.dumps({"model": "llama", "kv_transfer_params": WORD})).status_code == 200


SEVERAL = [["one", "two"], ['a ] "quoted", end', "two"], [[1, 2], [3]], ["back\\\\", "two"]]
ONE = ["one", ["one"], ['one, with a comma", "and a quote'], [1, 2, 3], [[1, 2, 3]], 'a list: ["a", "b"]']


@pytest.mark.parametrize("prompt", SEVERAL, ids=range(len(SEVERAL)))
def test_several_prompts_in_one_request_are_refused_where_one_s_cache_would_answer_all(proxy, prompt):
    way = "/v1/completions"
    for indent in (None, 2):
        body = json.dumps({"model": "llama", "prompt": prompt}, indent=indent)
        answer = proxy.client().post(f"/llama{way}?a=b", content=body)
        assert answer.status_code == 400
        assert "one prompt" in answer.json()["error"]["message"]
    assert not proxy.engines["llama"].seen
    assert proxy.client().post(f"/qwen{way}", json={"model": "qwen", "prompt": prompt}).status_code == 200


@pytest.mark.parametrize("prompt", ONE, ids=range(len(ONE)))
def test_one_prompt_is_answered_however_it_is_written(proxy, prompt):
    assert proxy.client().post("/llama/v1/completions", json={"model": "llama", "prompt": prompt}).status_code == 200


def test_a_model_that_is_alone_is_asked_without_its_name(start):
    proxy = start(models=("llama",), told={"divided": ["llama"]})
    assert proxy.client().post("/v1/completions", json={"prompt": ["one", "two"]}).status_code == 400
