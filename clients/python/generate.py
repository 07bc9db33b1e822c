"""`python generate.py OPENAPI.json DIRECTORY`: writes the whole package into an empty directory.

Models and calls are made by openapi-python-client from the document, the sync half from the async one by unasync, and
the rest is copied from beside this file.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import unasync

here = Path(__file__).parent
document_file, directory = map(Path, sys.argv[1:])
package = directory / "sheaf_client"


def main() -> None:
    document = json.loads(document_file.read_text())
    generate(prepare(document))
    shutil.copytree(here / "sheaf_client", package, dirs_exist_ok=True)
    for file in ("pyproject.toml", "README.md"):
        shutil.copy(here / file, directory)
    shutil.copy(here / "../../LICENSE", directory)
    (package / "_version.py").write_text(f'__version__ = "{document["info"]["version"]}"\n')
    types = json.dumps(document["x-content-types-by-extension"], indent=4)
    (package / "_content_types.py").write_text(f"CONTENT_TYPES: dict[str, str] = {types}\n")
    shutil.move(package / "api/__init__.py", package / "_async/operations.py")
    (package / "api/__init__.py").touch()
    derive_sync()
    for command in (["check", "--quiet", "--fix", "--select", "I,F401"], ["format", "--quiet"]):
        subprocess.run([tool("ruff"), *command, "--line-length", "120", package], check=True)


def prepare(document: dict) -> dict:
    """Leaves out what the client does itself, such as errors, and has free objects be dicts instead of classes."""
    split_paths(document["paths"])
    for operation in (each for path in document["paths"].values() for each in path.values()):
        answer = operation["responses"]["200"]
        answer["content"].pop("application/x-ndjson", None)
        stream = answer["content"].pop("text/event-stream", None)
        if stream:
            message = stream["schema"]["oneOf"][0]
            answer["content"]["application/json"] = {"schema": message["properties"]["data"]}
        operation["responses"] = {"200": answer}
        operation.pop("security", None)
    return json.loads(json.dumps(document), object_hook=free)


def split_paths(paths: dict) -> None:
    """Gives each parameter its own name back: the document has one for all operations of a path, and says so."""
    for path, item in list(paths.items()):
        for method, operation in list(item.items()):
            for parameter in operation["parameters"]:
                own = re.match(r"Here the `(\w+)`", parameter.get("description", ""))
                if own:
                    shared, parameter["name"] = parameter["name"], own[1]
                    paths.setdefault(path.replace(f"{{{shared}}}", f"{{{own[1]}}}"), {})[method] = item.pop(method)


def free(value: dict) -> dict:
    is_free = value.get("type") == "object" and isinstance(value.get("additionalProperties"), dict)
    return {"description": value.get("description", "")} if is_free and not value.get("properties") else value


def generate(document: dict) -> None:
    package.mkdir(parents=True)
    prepared, config = directory / "openapi.json", directory / "config.json"
    prepared.write_text(json.dumps(document))
    config.write_text(json.dumps({"literal_enums": True, "post_hooks": []}))
    options = ["--path", prepared, "--config", config, "--output-path", package, "--custom-template-path", here / "templates"]
    command = [tool("openapi-python-client"), "generate", "--meta", "none", "--overwrite", "--fail-on-warning"]
    subprocess.run([*command, *options], check=True, stdout=subprocess.DEVNULL)
    for file in (prepared, config, package / "client.py", package / "errors.py", package / "types.py"):
        file.unlink()


def tool(name: str) -> Path:
    return Path(sys.executable).with_name(name)


def derive_sync() -> None:
    """Writes `_sync` from `_async`: the same code without `async` and `await`."""
    files = [str(file) for file in (package / "_async").glob("*.py")]
    names = {name for file in files for name in re.findall(r"\bAsync\w+", Path(file).read_text())}
    replacements = {name: name.removeprefix("Async") for name in names} | {"_async": "_sync", "asyncio": "time", "aclose": "close"}
    replacements |= {"anext": "next", "aread": "read", "aiter_sse": "iter_sse"}
    unasync.unasync_files(files, [unasync.Rule("/_async/", "/_sync/", additional_replacements=replacements)])


main()
