"""Waits for the next event of a stream of jobs, as often and as many seconds as its argument says, and prints what came."""

import asyncio
import json
import os
import sys

from sheaf_client import AsyncClient

arguments = json.loads(sys.argv[1])


async def main() -> None:
    async with AsyncClient(os.environ["SHEAF_URL"], os.environ["SHEAF_API_KEY"]) as client:
        async with client.stream_jobs(os.environ["SHEAF_ORGANIZATION"]) as events:
            for _ in range(arguments["times"]):
                try:
                    event = await asyncio.wait_for(anext(events), arguments["seconds"])
                    print(json.dumps({"id": event.id, "status": event.status}), flush=True)
                except asyncio.TimeoutError:
                    print(json.dumps({"status": "none"}), flush=True)


asyncio.run(main())
