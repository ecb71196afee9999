"""Stand in for Bedrock's knowledge bases on loopback: it speaks their REST-JSON to real boto3 clients."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

import boto3
from botocore.config import Config

KNOWLEDGE_BASE = "KB12345678"
CLIENT = {
    "region_name": "eu-central-1",
    "aws_access_key_id": "test",
    "aws_secret_access_key": "test",
    "config": Config(connect_timeout=5, read_timeout=5, retries={"total_max_attempts": 1}),
}
_RETRIEVE = re.compile(r"/knowledgebases/(\w+)/retrieve")
_SOURCES = re.compile(r"/knowledgebases/(\w+)/datasources/")
_JOBS = re.compile(r"/knowledgebases/\w+/datasources/(\w+)/ingestionjobs/")


@dataclass(frozen=True)
class Failure:
    status: int
    kind: str
    message: str = "the words of the query"


@dataclass
class BedrockService:
    """Hold what the service answers, and what it was asked."""

    url: str = ""
    results: list[dict[str, Any]] = field(default_factory=list)
    jobs: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    retrieve_failure: Failure | None = None
    listing_failure: Failure | None = None
    listing_may_go_on: Event = field(default_factory=Event)
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def answer(self, path: str, body: dict[str, Any]) -> Mapping[str, Any] | Failure:
        self.asked.append((path, body))
        if _RETRIEVE.fullmatch(path):
            return self.retrieve_failure or {"retrievalResults": self.results[: self.top_k(body)]}
        self.listing_may_go_on.wait()
        if self.listing_failure:
            return self.listing_failure
        if found := _JOBS.fullmatch(path):
            return self._jobs(found[1], body)
        assert _SOURCES.fullmatch(path)
        return self._sources(body)

    @staticmethod
    def top_k(body: dict[str, Any]) -> int:
        return int(body["retrievalConfiguration"]["vectorSearchConfiguration"]["numberOfResults"])

    def listings(self) -> int:
        """Count the readings of the index version."""
        return sum(bool(_SOURCES.fullmatch(path)) and "nextToken" not in body for path, body in self.asked)

    def client(self, name: str, **options: Any) -> Any:
        return boto3.client(name, endpoint_url=self.url, **{**CLIENT, **options})

    def _sources(self, body: dict[str, Any]) -> dict[str, Any]:
        """Give one data source a page, so that whoever reads must turn pages."""
        at = int(body.get("nextToken", "0"))
        sources = [
            {
                "knowledgeBaseId": KNOWLEDGE_BASE,
                "dataSourceId": source,
                "name": "n",
                "status": "AVAILABLE",
                "updatedAt": "2026-01-01T00:00:00Z",
            }
            for source in self.jobs
        ]
        more = {"nextToken": str(at + 1)} if at + 1 < len(sources) else {}
        return {"dataSourceSummaries": sources[at : at + 1], **more}

    def _jobs(self, source: str, body: dict[str, Any]) -> dict[str, Any]:
        """Filter a page after it was cut, so that a page may be empty with more behind it."""
        (wanted,) = body["filters"][0]["values"]
        newest_first = body["sortBy"] == {"attribute": "STARTED_AT", "order": "DESCENDING"}
        jobs = sorted(self.jobs[source], key=lambda job: job["startedAt"], reverse=newest_first)
        at, size = int(body.get("nextToken", "0")), body["maxResults"]
        page = [job for job in jobs[at : at + size] if job["status"] == wanted]
        more = {"nextToken": str(at + size)} if at + size < len(jobs) else {}
        return {"ingestionJobSummaries": page, **more}


def job(job_id: str, status: str, started: str, updated: str, source: str = "DS12345678") -> dict[str, str]:
    return {
        "knowledgeBaseId": KNOWLEDGE_BASE,
        "dataSourceId": source,
        "ingestionJobId": job_id,
        "status": status,
        "startedAt": started,
        "updatedAt": updated,
    }


@contextmanager
def bedrock_service() -> Iterator[BedrockService]:
    service = BedrockService()
    service.listing_may_go_on.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", "0"))) or b"{}")
            answer = service.answer(self.path, body)
            status, kind, content = (
                (answer.status, answer.kind, {"message": answer.message})
                if isinstance(answer, Failure)
                else (200, "", answer)
            )
            data = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            if kind:
                self.send_header("x-amzn-errortype", kind)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        service.url = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield service
        finally:
            service.listing_may_go_on.set()
            server.shutdown()
            thread.join()
