"""Prints the tables of PDFs as a Python library finds them: for each library and file the rows of each table, as a line of JSON."""

import json
import re
import sys

import camelot
import pdfplumber
import pymupdf4llm
from markitdown import MarkItDown

markitdown = MarkItDown()


def by_pdfplumber(file):
    with pdfplumber.open(file) as document:
        tables = [table for page in document.pages for table in page.extract_tables()]
    return [[[cell or "" for cell in row] for row in table] for table in tables]


def by_camelot(file, flavor):
    return [table.df.values.tolist() for table in camelot.read_pdf(file, pages="all", flavor=flavor)]


def of_markdown(text):
    """The rows of each table, without the lines below their heads."""
    tables = [[]]
    for line in (line.strip() for line in text.split("\n")):
        if not line.startswith("|"):
            tables.append([])
        elif not re.fullmatch(r"[|:\s-]+", line):
            cells = re.split(r"(?<!\\)\|", line.removeprefix("|").removesuffix("|"))
            tables[-1].append([re.sub(r"<br\s*/?>", " ", cell).strip() for cell in cells])
    return [table for table in tables if table]


def tables_of(read, file):
    try:
        return read(file)
    except Exception as error:  # a library that refuses a file finds nothing in it
        print(f"{file}: {error}", file=sys.stderr)
        return []


readers = {
    "pdfplumber": by_pdfplumber,
    "camelot (lattice)": lambda file: by_camelot(file, "lattice"),
    "camelot (stream)": lambda file: by_camelot(file, "stream"),
    "markitdown": lambda file: of_markdown(markitdown.convert(file).text_content),
    "pymupdf4llm": lambda file: of_markdown(pymupdf4llm.to_markdown(file)),
}
found = {name: {file: tables_of(read, file) for file in sys.argv[1:]} for name, read in readers.items()}
# The last line: some libraries print what they think of a file.
print("\n" + json.dumps(found))
