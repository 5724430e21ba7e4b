"""Who may see what: tokens, prefixes, other sites, and headers that keep the page to itself."""

import pytest

from galloon.daemon.rpc.auth import hash_token
from tests.daemon.http.page.visitor import play, visiting
from tests.daemon.serving import serving

PATHS = ("session", "learners", "store", "learner?name=test", "utterances?name=test", "weights?name=test")


@pytest.fixture
def tokens(tmp_path):
    """A file with two principals: alice sees all, bob what starts with bob/, eve nothing."""
    entries = [
        f'[[principal]]\nname = "{name}"\ntoken_sha256 = "{hash_token(name).hex()}"\nlearners = {learners}\n'
        for name, learners in (("alice", '[""]'), ("bob", '["bob/"]'), ("eve", "[]"))
    ]
    path = tmp_path / "tokens.toml"
    path.write_text("".join(entries))
    return path


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def test_with_tokens_everything_but_the_files_asks_for_one(tmp_path, tokens):
    async with serving(tmp_path / "data", auth__tokens=tokens) as daemon, visiting(daemon) as visitor:
        for path in (*(f"/api/{path}" for path in PATHS), "/events"):
            status, headers, _ = await visitor.raw("GET", path)
            assert (path, status, headers["WWW-Authenticate"]) == (path, 401, "Bearer")
        for path in ("/api/try", "/api/teach"):
            assert (await visitor.post(path, {}))[0] == 401
        assert (await visitor.raw("GET", "/"))[0] == 200
        assert (await visitor.raw("GET", "/static/app.js"))[0] == 200
        status, _, _ = await visitor.raw("GET", "/api/session", headers=bearer("nobody's"))
        assert status == 401


async def test_a_required_token_guards_the_metrics_but_not_the_form_that_asks_for_it(tmp_path, tokens):
    settings = {"auth__tokens": tokens, "http__require_token": "true"}
    async with serving(tmp_path / "data", **settings) as daemon, visiting(daemon) as visitor:
        assert (await visitor.raw("GET", "/"))[0] == 200
        assert (await visitor.raw("GET", "/metrics"))[0] == 401
        assert (await visitor.raw("GET", "/api/session", headers=bearer("alice")))[0] == 200


async def test_a_principal_sees_its_own_learners_alone(tmp_path, tokens):
    text = {"outputs": [{"expert": "a", "text": "x y"}, {"expert": "b", "text": "x z"}], "create": True}
    async with serving(tmp_path / "data", auth__tokens=tokens) as daemon:
        async with visiting(daemon, **bearer("alice")) as alice:
            assert (await alice.post("/api/try", {**text, "learner": "bob/x"}))[0] == 200
            assert (await alice.post("/api/try", {**text, "learner": "hers"}))[0] == 200
            assert [one["name"] for one in (await alice.get("/api/learners"))["learners"]] == [
                "bob/x",
                "hers",
            ]
        async with visiting(daemon, **bearer("bob")) as bob:
            session = await bob.get("/api/session")
            assert (session["principal"], session["try_prefix"], session["may_try"]) == ("bob", "bob/", True)
            listed = await bob.get("/api/learners")
            assert ([one["name"] for one in listed["learners"]], listed["total"]) == (["bob/x"], 1)
            assert [row["name"] for row in (await bob.get("/api/store"))["learners"]] == ["bob/x"]
            assert (await bob.ask("/api/learner", name="hers"))[0] == 403
            assert (await bob.post("/api/try", {**text, "learner": "hers"}))[0] == 403
            assert (await bob.post("/api/teach", {"learner": "hers", "id": "x", "text": "x"}))[0] == 403
            async with bob.listen(learner="hers") as news:
                first = await anext(news)
            assert [one["name"] for one in first["learners"]] == ["bob/x"]
            assert "learner" not in first
        async with visiting(daemon, **bearer("eve")) as eve:
            assert (await eve.get("/api/session"))["may_try"] is False
            assert (await eve.get("/api/learners"))["learners"] == []


async def test_callers_known_by_certificate_alone_cannot_be_known_here(tmp_path):
    from galloon.daemon.errors import Unauthenticated
    from galloon.daemon.http.page.access import Access
    from galloon.daemon.rpc.auth import Gate

    with pytest.raises(Unauthenticated, match=r"auth\.tokens"):
        Access(Gate([], client_certificates=True), on_loopback=True).principal(None)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "localhost:7411"}, 200),
        ({"Host": "[::1]:7411"}, 200),
        ({"Host": "evil.example:7411"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
    ],
)
async def test_other_sites_cannot_reach_in_through_a_visitor(tmp_path, headers, status):
    async with serving(tmp_path) as daemon, visiting(daemon) as visitor:
        assert (await visitor.raw("GET", "/api/learners", headers=headers))[0] == status


async def test_a_form_of_another_site_cannot_teach(tmp_path):
    async with serving(tmp_path) as daemon, visiting(daemon) as visitor:
        body = b'{"learner": "x", "id": "y", "text": "z"}'
        answer = await visitor.raw("POST", "/api/teach", data=body, headers={"Content-Type": "text/plain"})
    assert answer[0] == 400


async def test_every_answer_forbids_foreign_scripts_and_frames(tmp_path):
    async with serving(tmp_path) as daemon, visiting(daemon) as visitor:
        await play(daemon, 1)
        for path in ("/", "/static/app.js", "/api/learners", "/api/learner?name=none", "/metrics"):
            _, headers, _ = await visitor.raw("GET", path)
            policy = headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy
            assert headers["X-Content-Type-Options"] == "nosniff"


async def test_files_are_served_by_name_alone_and_not_sent_twice(tmp_path):
    async with serving(tmp_path) as daemon, visiting(daemon) as visitor:
        status, headers, body = await visitor.raw("GET", "/static/base.css")
        assert (status, headers["Content-Type"]) == (200, "text/css; charset=utf-8")
        again = await visitor.raw("GET", "/static/base.css", headers={"If-None-Match": headers["ETag"]})
        assert (again[0], again[2]) == (304, b"")
        assert body
        for path in ("/static/../routes.py", "/static/%2e%2e/routes.py", "/static/__init__.py", "/static/"):
            assert (await visitor.raw("GET", path))[0] == 404
