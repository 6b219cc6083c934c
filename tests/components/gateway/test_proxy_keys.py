"""A key is one tenant's, wherever a client puts it."""

CHAT = "/llama/v1/chat/completions"


def test_a_tenant_has_one_budget_however_it_shows_its_key(start, limited):
    proxy = start(tenants=limited(requests_per_minute=4))
    key = proxy.keys["chat"]
    ways = [{"authorization": f"Bearer {key}"}, {"x-api-key": key}] * 3
    answers = [proxy.client(None, **way).post(CHAT, json={}).status_code for way in ways]
    assert answers == [200] * 4 + [429] * 2


def test_a_wrong_key_is_no_way_in_beside_a_header_without_one(start):
    proxy = start()
    for way in ({"x-api-key": "wrong"}, {"x-api-key": ""}, {"authorization": "Bearer -"}, {"authorization": "Bearer"}):
        assert proxy.client(None, **way).post(CHAT, json={}).status_code == 401, way
    assert not proxy.engines["llama"].seen
