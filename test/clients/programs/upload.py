"""Uploads as its argument says, and prints what came of it, the progress, and the memory that it took, in kB.

Tests also run it without `async` and `await`.
"""

import asyncio
import json
import os
import resource
import subprocess
import sys
from contextlib import ExitStack

import httpx
from sheaf_client import AsyncClient, Retries, SheafError

service, proxy = os.environ["SERVICE_URL"], os.environ["SHEAF_URL"]
arguments = json.loads(sys.argv[1])
path = arguments.pop("path")
as_what = arguments.pop("as", "path")
sent: list[int] = []


async def through_proxy(request: httpx.Request) -> None:
    """Signed targets name the service itself: here they lead through the proxy, too."""
    request.url = httpx.URL(str(request.url).replace(service, proxy))


def source(stack: ExitStack):
    if as_what == "path":
        return path
    if as_what == "pipe":
        return stack.enter_context(subprocess.Popen(["cat", path], stdout=subprocess.PIPE)).stdout
    if as_what == "text":
        return stack.enter_context(open(path))
    file = stack.enter_context(open(path, "rb"))
    return file if as_what == "file" else file.read()


def on_progress(sent_bytes: int, total_bytes: int) -> None:
    sent.append(sent_bytes)
    if len(sent) == 1:
        print("begun", flush=True)


async def main() -> None:
    http = httpx.AsyncClient(event_hooks={"request": [through_proxy]})
    retries = Retries(base_delay=0.01)
    async with AsyncClient(proxy, os.environ["SHEAF_API_KEY"], retries=retries, http=http) as client:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        result = {}
        try:
            with ExitStack() as stack:
                what = source(stack)
                document = await client.upload(os.environ["WORKSPACE"], what, on_progress=on_progress, **arguments)
            result = document.to_dict()
        except SheafError as error:
            result = {"code": error.code, "status": error.status}
        except (OSError, ValueError) as error:
            result = {"code": type(error).__name__}
        took = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        print(json.dumps({"result": result, "sent": sent, "tookKb": took}))


asyncio.run(main())
