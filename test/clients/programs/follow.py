"""Follows the jobs of an organization, and prints each event, until as many jobs have succeeded as its argument says, beside those known.

Tests also run it without `async` and `await`.
"""

import asyncio
import json
import os
import sys

from sheaf_client import AsyncClient, Retries, SheafError

arguments = json.loads(sys.argv[1])
count = arguments.pop("count")
known = set(arguments.pop("known", []))
retries = Retries(base_delay=0.02, **arguments.pop("retries", {}))


async def main() -> None:
    succeeded = set()
    async with AsyncClient(os.environ["SHEAF_URL"], os.environ["SHEAF_API_KEY"], retries=retries) as client:
        try:
            async with client.stream_jobs(os.environ["SHEAF_ORGANIZATION"], **arguments) as events:
                print("open", flush=True)
                async for event in events:
                    fields = {"id": event.id, "status": event.status, "lastEventId": events.last_event_id}
                    print(json.dumps(fields), flush=True)
                    if event.status == "succeeded":
                        succeeded.add(event.id)
                    if len(succeeded - known) == count:
                        break
        except SheafError as error:
            print(json.dumps({"code": error.code, "status": error.status}))


asyncio.run(main())
