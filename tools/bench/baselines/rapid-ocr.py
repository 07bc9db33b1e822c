"""Reads images with RapidOCR (PP-OCR models in ONNX, which its package brings) in one thread: `python rapid-ocr.py FILE...`.

For each file it prints a line of JSON, like ../support/read-scans.ts. The first one is read once before.
"""

import json
import resource
import sys
import time

import cv2
from rapidocr import RapidOCR

cv2.setNumThreads(1)
one_thread = {f"EngineConfig.onnxruntime.{name}_op_num_threads": 1 for name in ("intra", "inter")}
engine = RapidOCR(params={"Global.log_level": "critical", **one_thread})
files = sys.argv[1:]
engine(files[0])
for file in files:
    before = time.process_time()
    lines = engine(file).txts or ()
    seconds = time.process_time() - before
    peak_megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000
    print(json.dumps({"text": "\n".join(lines), "seconds": seconds, "peakMegabytes": peak_megabytes}), flush=True)
