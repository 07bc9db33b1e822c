"""Prints the tables of PDFs as a Python library finds them: for each library and file the rows of each table, as JSON."""

import json
import sys

import camelot
import pdfplumber


def by_pdfplumber(file):
    with pdfplumber.open(file) as document:
        tables = [table for page in document.pages for table in page.extract_tables()]
    return [[[cell or "" for cell in row] for row in table] for table in tables]


def by_camelot(file, flavor):
    return [table.df.values.tolist() for table in camelot.read_pdf(file, pages="all", flavor=flavor)]


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
}
found = {name: {file: tables_of(read, file) for file in sys.argv[1:]} for name, read in readers.items()}
json.dump(found, sys.stdout)
