"""Makes the calls of its argument, one after the other, and prints what came of each as a line.

Tests also run it without `async` and `await`.
"""

import asyncio
import json
import os
import pickle
import sys
from operator import attrgetter

from sheaf_client import AsyncClient, JobFailed, Retries, SheafError

arguments = json.loads(sys.argv[1])


def describe(error: SheafError) -> dict:
    """After a journey as from another process."""
    error = pickle.loads(pickle.dumps(error))
    fields = ("code", "status", "message", "data", "defined", "request_id", "retry_after")
    described = {name: getattr(error, name) for name in fields} | {"text": str(error)}
    return {"error": described | ({"job": error.job.to_dict()} if isinstance(error, JobFailed) else {})}


async def main() -> None:
    retries = Retries(base_delay=0.01, max_retry_after=5)
    async with AsyncClient(os.environ["SHEAF_URL"], os.environ["SHEAF_API_KEY"], retries=retries, timeout=20) as client:
        for name, fields in arguments:
            try:
                result = await attrgetter(name)(client)(**fields)
                print(json.dumps({"result": result.to_dict() if hasattr(result, "to_dict") else len(result)}))
            except SheafError as error:
                print(json.dumps(describe(error)))
            except (TimeoutError, ValueError) as error:
                print(json.dumps({"raised": type(error).__name__}))


asyncio.run(main())
