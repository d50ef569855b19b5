"""What an answer that is not the wished one means, and what to do about it (the HTTP contract, README)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import httpx

from cli.doctor.finding import Finding, failed

if TYPE_CHECKING:
    from collections.abc import Mapping

_ELSEWHERE = "this is no answer of the adapter's; check the URL (the stack's output Url, without a path)"

# By the problem's code, or else by HTTP's status.
_TO_DO: Mapping[str, str] = {
    "unauthenticated": "this route has no authorizer although Access is not open: deploy again",
    "unknown_producer": "lineage-adapter token allow NAME --namespace GLOB lets the token's producer in",
    "namespace_not_allowed": (
        "--namespace with one that the token's producer may write to, or lineage-adapter token allow; what was refused "
        "is in quarantine"
    ),
    "unavailable": (
        "neither DataZone nor the backlog nor the quarantine took it: look at the HTTP function's log and role, and at "
        "SQS and S3"
    ),
    "refused_by_datazone": "DataZone calls a valid event invalid: ask AWS whether the domain takes lineage",
    "401": "the gateway wants a token that is live: with Access=jwt one of JwtIssuer for JwtAudience",
    "403": (
        "the token is not known, revoked or over (lineage-adapter token list), or the secret cannot be read; the "
        "authorizer's log names the reason"
    ),
    "429": "the API's throttling: ThrottleRate and ThrottleBurst, or the account's quota of API Gateway",
    "500": "the gateway got no answer from a function: look at the HTTP function's log, and the authorizer's",
    "502": "the gateway got no answer from a function: look at the HTTP function's log",
    "503": "the HTTP function did not run or did not end: look at its concurrency, its state and its log",
    "504": "the HTTP function did not end in time: look at its log",
}


def explained(answer: httpx.Response, asked: str) -> Finding:
    """Say what an answer to `asked` means that is not the one it should have been."""
    said = body(answer)
    code = str(said.get("code", ""))
    what = f"{asked} is answered {answer.status_code} {code}".rstrip()
    if key := said.get("quarantineKey"):
        what = f"{what}, and kept as {key}"
    return failed(what, _TO_DO.get(code) or _TO_DO.get(str(answer.status_code)) or _ELSEWHERE)


def body(answer: httpx.Response) -> Mapping[str, object]:
    """Give the JSON object that was answered; an empty one where there is none."""
    try:
        said = json.loads(answer.content)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def unanswered(error: httpx.RequestError) -> Finding:
    """Say why there is no answer."""
    if isinstance(error, httpx.TimeoutException):
        return failed("no answer in time", "emitters wait for 5 seconds: look at the HTTP function's log and duration")
    return failed(
        f"no answer: {type(error).__name__}, {' '.join(str(error).split())}",
        "check the way there from this machine; with TruststoreUri the name asks for a client certificate, which "
        "this command does not have",
    )
