"""Prints the text of images as a Python library reads it: for each library and file, as JSON."""

import json
import sys

from kreuzberg import extract_file_sync
from rapidocr_onnxruntime import RapidOCR

rapid = RapidOCR()


def by_rapidocr(file):
    lines, _ = rapid(file)
    return "\n".join(text for _, text, _ in lines or [])


def by_kreuzberg(file):
    return extract_file_sync(file).content


def text_of(read, file):
    try:
        return read(file)
    except Exception as error:  # a library that refuses a file reads nothing of it
        print(f"{file}: {error}", file=sys.stderr)
        return ""


readers = {"RapidOCR (PP-OCRv4)": by_rapidocr, "kreuzberg": by_kreuzberg}
found = {name: {file: text_of(read, file) for file in sys.argv[1:]} for name, read in readers.items()}
json.dump(found, sys.stdout)
