"""Asks as its argument says, and prints each event.

Tests also run it without `async` and `await`.
"""

import asyncio
import json
import os
import sys

from sheaf_client import AsyncClient, Retries, SheafError

arguments = json.loads(sys.argv[1])
retries = Retries(base_delay=0.02, max_silence=arguments.pop("max_silence", 45))


async def main() -> None:
    async with AsyncClient(os.environ["SHEAF_URL"], os.environ["SHEAF_API_KEY"], retries=retries) as client:
        try:
            async with client.ask_stream(os.environ["WORKSPACE"], **arguments) as events:
                async for event in events:
                    print(json.dumps({**event.to_dict(), "lastEventId": events.last_event_id}), flush=True)
        except SheafError as error:
            print(json.dumps({"code": error.code, "status": error.status}))


asyncio.run(main())
