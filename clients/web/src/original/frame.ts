import {
  AnnotationMode,
  GlobalWorkerOptions,
  getDocument,
  type PDFDocumentProxy,
  type RenderTask,
  VerbosityLevel,
  version,
} from 'pdfjs-dist';
import workerUrl from 'pdfjs-dist/build/pdf.worker.min.mjs?url';
import './frame.css';
import { markPassage } from './mark-passage.ts';
import type { FromFrame, Passage, ToFrame } from './messages.ts';

/** Beyond it a browser shows nothing, or takes all memory: a page may say that it is kilometers long. */
const maxPixels = 16_000_000;

const resources = new URL(`/assets/pdfjs-${version}/`, location.href).href;
const worker = startWorker();
const isReady = new Promise((resolve) => worker.addEventListener('message', resolve, { once: true }));
const canvas = document.getElementById('page') as HTMLCanvasElement;
let file: Promise<PDFDocumentProxy> | undefined;
let drawing: RenderTask | undefined;
/** How often a page was asked for. */
let asked = 0;

const tell = (message: FromFrame) => window.parent.postMessage(message, '*');

addEventListener('message', ({ source, data }: MessageEvent<ToFrame>) => {
  if (source !== window.parent) return;
  if ('page' in data) return void show(data.page, data.label, data.passage);
  file = open(data.file);
  file.then(
    ({ numPages }) => tell({ pages: numPages }),
    () => tell({ failed: true }),
  );
});

/** Opens a file without its scripts, links and forms. */
async function open(data: ArrayBuffer): Promise<PDFDocumentProxy> {
  await isReady;
  GlobalWorkerOptions.workerPort = worker;
  return await getDocument({
    data,
    cMapUrl: `${resources}cmaps/`,
    iccUrl: `${resources}iccs/`,
    standardFontDataUrl: `${resources}standard_fonts/`,
    wasmUrl: `${resources}wasm/`,
    // Those of a machine have other widths: letters would overlap.
    useSystemFonts: false,
    // What is wrong with a stranger's file is nothing for the console of the browser.
    verbosity: VerbosityLevel.ERRORS,
  }).promise;
}

async function show(number: number, label: string, passage: Passage | undefined): Promise<void> {
  const turn = ++asked;
  drawing?.cancel();
  try {
    const pdf = await file;
    // A link may be of an earlier version, which had more pages.
    const page = await pdf?.getPage(Math.min(number, pdf.numPages));
    // Another page was asked for meanwhile: two cannot be drawn at once.
    if (!page || turn !== asked) return;
    const { width, height } = page.getViewport({ scale: 1 });
    const fitting = (window.innerWidth * window.devicePixelRatio) / width;
    const viewport = page.getViewport({ scale: Math.min(fitting, Math.sqrt(maxPixels / (width * height))) });
    canvas.width = viewport.width;
    canvas.height = viewport.height;
    canvas.setAttribute('aria-label', label);
    scrollTo(0, 0);
    drawing = page.render({ canvas, viewport, annotationMode: AnnotationMode.ENABLE });
    await drawing.promise;
    if (passage) await markPassage(page, viewport, canvas, passage);
    if (turn !== asked) return;
    canvas.dataset.shown = String(number);
  } catch {
    // What was asked for before was canceled.
    if (turn === asked) tell({ failed: true });
  }
}

/** Starts what reads files. A frame without an origin may start a worker only from a blob, and no module. It sends a message once it listens. */
function startWorker(): Worker {
  const script = `import(${JSON.stringify(new URL(workerUrl, location.href).href)})`;
  return new Worker(URL.createObjectURL(new Blob([script], { type: 'text/javascript' })));
}
