"""The routes of the page: its files, its JSON, its events. `Page.add_to` adds them to the daemon's HTTP port.

The files are the same for everybody and say nothing, so they are open: a person must be able to load the form that
asks for the token. Everything under /api and /events asks `access` who is there, and shows the learners of that
principal alone.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import structlog
from aiohttp import web
from aiohttp.typedefs import Handler

from galloon import __version__
from galloon.daemon.config import Config
from galloon.daemon.errors import CODES, Internal, Invalid, LimitPassed, Refused, Unavailable, refusal
from galloon.daemon.http.metrics import Metrics
from galloon.daemon.http.page import automaton_view, errors_view, learner_view, store_view, utterance_view
from galloon.daemon.http.page.access import Access
from galloon.daemon.http.page.curves import Curves
from galloon.daemon.http.page.files import load_files
from galloon.daemon.http.page.live import Live
from galloon.daemon.http.page.trial import Trial
from galloon.daemon.learner.comparison import compare
from galloon.daemon.learner.learner import Learner
from galloon.daemon.learner.registry import Registry
from galloon.daemon.rpc.auth import Principal
from galloon.daemon.rpc.looks import Looks
from galloon.daemon.rpc.stream import CombineService
from galloon.daemon.store.cluster_figures import ClusterFigures
from galloon.daemon.store.journal import Journal

log = structlog.get_logger()
Answer = Callable[[web.Request, Principal], Awaitable[Any]]
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
STATUSES = {
    grpc.StatusCode.INVALID_ARGUMENT: 400,
    grpc.StatusCode.UNAUTHENTICATED: 401,
    grpc.StatusCode.PERMISSION_DENIED: 403,
    grpc.StatusCode.NOT_FOUND: 404,
    grpc.StatusCode.ALREADY_EXISTS: 409,
    grpc.StatusCode.FAILED_PRECONDITION: 409,
    grpc.StatusCode.RESOURCE_EXHAUSTED: 429,
    grpc.StatusCode.INTERNAL: 500,
    grpc.StatusCode.UNAVAILABLE: 503,
}


class Page:
    """Everything that people see of one daemon in a browser."""

    def __init__(
        self,
        config: Config,
        registry: Registry,
        streams: CombineService,
        journal: Journal,
        metrics: Metrics,
        access: Access,
        clock: Callable[[], float],
        is_ready: Callable[[], bool],
        cluster: Callable[[], ClusterFigures | None],
        looks: Looks,
    ) -> None:
        self._looks = looks
        self._registry, self._streams, self._metrics = registry, streams, metrics
        self._access, self._clock, self._is_ready, self._limits = access, clock, is_ready, config.limits
        shown = config.http.learners_shown
        data_dir = None if config.store.url else Path(config.store.data_dir)
        self._cluster = cluster
        self._curves = Curves(registry, shown)

        def health(caller: Principal) -> dict[str, Any]:
            learners = registry.page("", shown, caller.may_use)
            described = [learner.describe() for learner in learners]
            return store_view.health(journal, metrics, data_dir, cluster(), described)

        self._health = health
        self._live = Live(registry, self._curves, shown, journal, health, clock)
        self._trial = Trial(registry, config.limits, metrics)

    def add_to(self, app: web.Application) -> None:
        for path, answer in load_files().items():
            app.router.add_get(path, partial(_file, answer))
        app.add_routes(
            [
                web.get("/api/session", self._answering(self.session)),
                web.get("/api/learners", self._answering(self.learners)),
                web.get("/api/learner", self._answering(self.learner)),
                web.get("/api/utterances", self._answering(self.utterances)),
                web.get("/api/errors", self._answering(self.errors)),
                web.get("/api/compare", self._answering(self.compare)),
                web.get("/api/weights", self._answering(self.weights)),
                web.get("/api/automata", self._answering(self.automata)),
                web.get("/api/store", self._answering(self.store)),
                web.post("/api/try", self._answering(self.try_)),
                web.post("/api/teach", self._answering(self.teach)),
                web.get("/events", self._answering(self._live.listen)),
            ]
        )
        app.on_response_prepare.append(_add_headers)
        app.on_shutdown.append(self._let_go)
        app.cleanup_ctx.append(self._keep_sampling)

    # What is answered; all of it in docs/page.md.

    async def session(self, _: web.Request, caller: Principal) -> Any:
        prefix = caller.learners[0] if caller.learners else ""
        joint = "" if not prefix or prefix[-1] in "/-._" else "-"
        return {
            "principal": caller.name,
            "asks_for_tokens": self._access.asks_for_tokens,
            "may_try": bool(caller.learners),
            "try_prefix": f"{prefix}{joint}",
            "version": __version__,
        }

    async def learners(self, request: web.Request, caller: Principal) -> Any:
        found = self._live.visible(caller, request.query.get("contains", ""))
        return {
            "learners": [learner_view.brief(learner.describe()) for learner in found],
            "total": sum(caller.may_use(learner.name) for learner in self._registry.learners()),
            "is_one_of_several": self._cluster() is not None,
        }

    async def learner(self, request: web.Request, caller: Principal) -> Any:
        learner = self._asked_for(request, caller)
        streams = self._streams.streams_of(learner)
        return await learner_view.full(learner, self._curves.of(learner), streams)

    async def utterances(self, request: web.Request, caller: Principal) -> Any:
        return {"utterances": await utterance_view.latest(self._asked_for(request, caller))}

    async def errors(self, request: web.Request, caller: Principal) -> Any:
        learner = self._asked_for(request, caller)
        look = partial(errors_view.errors_to_json, learner.books, learner.rounds.lessons)
        return await self._looks.look(caller.name, look)

    async def compare(self, request: web.Request, caller: Principal) -> Any:
        learner = self._asked_for(request, caller)
        others = self._registry.challengers(learner.name)
        found = await self._looks.look(caller.name, partial(compare, learner, others))
        return errors_view.comparison_to_json(found)

    async def weights(self, request: web.Request, caller: Principal) -> Any:
        return {"weights": await learner_view.weights(self._asked_for(request, caller))}

    async def automata(self, request: web.Request, caller: Principal) -> Any:
        return await automaton_view.automata(self._asked_for(request, caller))

    async def store(self, _: web.Request, caller: Principal) -> Any:
        return self._health(caller)

    async def try_(self, request: web.Request, caller: Principal) -> Any:
        return await self._trial.choose(await self._body(request), caller)

    async def teach(self, request: web.Request, caller: Principal) -> Any:
        return await self._trial.teach(await self._body(request), caller)

    # Parts.

    def _asked_for(self, request: web.Request, caller: Principal) -> Learner:
        name = request.query.get("name", "")
        caller.check(name, "name")
        return self._registry.find(name)

    async def _body(self, request: web.Request) -> Any:
        if not self._is_ready():
            raise Unavailable("the daemon is starting or stopping", advice="try again later")
        if request.content_type != "application/json":  # which no form of another site can send
            raise Invalid("the content is of another type", advice="send application/json")
        try:
            return json.loads(await request.text())
        except (
            ValueError,
            LookupError,
            RecursionError,
        ) as error:  # not JSON, unknown charset, nested too deep
            raise Invalid("the request is not JSON in UTF-8 of a reasonable depth") from error
        except web.HTTPRequestEntityTooLarge as error:
            limit, advice = self._limits.message_bytes, "send shorter texts"
            raise LimitPassed("message_bytes", request.content_length or limit + 1, limit, advice) from error

    def _answering(self, answer: Answer) -> Handler:
        async def handle(request: web.Request) -> web.StreamResponse:
            try:
                found = await answer(request, self._access.principal(request))
            except Exception as error:  # noqa: BLE001  # becomes the answer
                return self._problem(error)
            return found if isinstance(found, web.StreamResponse) else _json(found)

        return handle

    def _problem(self, error: Exception) -> web.Response:
        refused: Refused = refusal(error)
        if isinstance(refused, Internal):
            log.error("request of the page failed", exc_info=error)
        self._metrics.rejects[type(refused)].inc()
        problem = {"message": str(refused), "field": refused.field}
        response = _json({"problem": problem}, STATUSES[CODES[type(refused)][0]])
        if response.status == 401:
            response.headers["WWW-Authenticate"] = "Bearer"
        return response

    async def _keep_sampling(self, _: web.Application) -> AsyncIterator[None]:
        task = asyncio.create_task(self._curves.run())
        yield
        task.cancel()

    async def _let_go(self, _: web.Application) -> None:
        self._live.end()


def _json(value: Any, status: int = 200) -> web.Response:
    return web.Response(
        text=json.dumps(value, separators=(",", ":"), allow_nan=False),
        status=status,
        content_type="application/json",
        headers={"Cache-Control": "no-store"},
    )


async def _file(answer: Callable[[web.Request], web.Response], request: web.Request) -> web.Response:
    return answer(request)


async def _add_headers(_: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(HEADERS)
