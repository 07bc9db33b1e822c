import { layerThresholds } from './pdf-thresholds.ts';
import { type Pdfium, readString, withMemory } from './pdfium.ts';

const { maxObjects, deepestForm, maxGroups } = layerThresholds;
const objectTypes = { text: 1, form: 5 };
const [blueGreenRed, white, black] = [2, 0xff, 0];
/** Small, since it is only asked whether something is drawn. */
export const bitmap = { width: 300, height: 400 };
/** The levels of each of its pixels: blue, green and red. */
export const channels = 3;

/** An object that is drawn if some layers are on. */
export interface Leaf {
  object: number;
  /** The form that it is in, if it is not in the page itself. */
  form: number | undefined;
  isText: boolean;
  /** What says of which layers: its marks, and the forms that it is in. */
  layers: string;
}

/**
 * Keeps text of layers that are off from being read, on a page that is loaded. PDFium knows which are off only when it draws: each group of
 * layers is drawn by itself. `hasLayeredForms` says whether forms may be of layers. Returns whether there was such text.
 */
export function hideLayers(pdfium: Pdfium, page: number, hasLayeredForms: boolean): boolean {
  const leaves = findLeaves(pdfium, page, hasLayeredForms);
  const ofLayers = leaves.filter(({ isText, layers }) => isText && layers !== '');
  const groups = Map.groupBy(ofLayers, ({ layers }) => layers);
  if (groups.size === 0 || groups.size > maxGroups) return false;
  const show = (some: Leaf[], isShown: boolean) => {
    for (const { object } of some) pdfium.FPDFPageObj_SetIsActive(object, isShown);
  };
  show(leaves, false);
  const hidden = [...groups.values()].filter((group) => {
    show(group, true);
    const isDrawn = draws(pdfium, page, group);
    show(group, false);
    return !isDrawn;
  });
  show(leaves, true);
  for (const leaf of hidden.flat()) hide(pdfium, leaf);
  return hidden.length > 0;
}

/** Keeps a text from being read. Whether one of a form is active makes no difference to PDFium when it reads. */
export function hide(pdfium: Pdfium, { object, form }: Leaf): void {
  if (form === undefined) pdfium.FPDFPageObj_SetIsActive(object, false);
  else if (pdfium.FPDFFormObj_RemoveObject(form, object)) pdfium.FPDFPageObj_Destroy(object);
}

/** Whether a PDF may have forms that are of layers: their dictionaries stand in the file as they are. */
export function mayHaveLayeredForms(bytes: Uint8Array): boolean {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = file.indexOf('/OC'); at >= 0; at = file.indexOf('/OC', at + 3))
    if (/^[\s<]/.test(file.toString('latin1', at + 3, at + 4))) return true;
  return false;
}

/** The objects of a page that are no forms. */
export function findLeaves(pdfium: Pdfium, page: number, hasLayeredForms: boolean): Leaf[] {
  const leaves: Leaf[] = [];
  let left = maxObjects;
  const add = (count: number, objectAt: (index: number) => number, layers: string, forms: number[]): void => {
    for (let index = 0; index < count && left > 0; index += 1) {
      const object = objectAt(index);
      if (object === 0) continue;
      left -= 1;
      const type = pdfium.FPDFPageObj_GetType(object);
      const own = layers + layerMarksOf(pdfium, object);
      if (type !== objectTypes.form) {
        leaves.push({ object, form: forms.at(-1), isText: type === objectTypes.text, layers: own });
        continue;
      }
      if (forms.length === deepestForm) continue;
      const inner = (at: number) => pdfium.FPDFFormObj_GetObject(object, at);
      add(pdfium.FPDFFormObj_CountObjects(object), inner, hasLayeredForms ? `${own}/${object}` : own, [...forms, object]);
    }
  };
  add(pdfium.FPDFPage_CountObjects(page), (index) => pdfium.FPDFPage_GetObject(page, index), '', []);
  return leaves;
}

/** The addresses of the marks that say of which layers an object is: those between the same two operators have the same. */
function layerMarksOf(pdfium: Pdfium, object: number): string {
  let marks = '';
  for (let index = 0; index < pdfium.FPDFPageObj_CountMarks(object); index += 1) {
    const mark = pdfium.FPDFPageObj_GetMark(object, index);
    if (mark !== 0 && nameOf(pdfium, mark) === 'OC') marks += `:${mark}`;
  }
  return marks;
}

function nameOf(pdfium: Pdfium, mark: number): string {
  return withMemory(pdfium, 4, (length) => {
    const view = () => new DataView(pdfium.pdfium.HEAPU8.buffer);
    return readString(pdfium, (buffer, size) => {
      pdfium.FPDFPageObjMark_GetName(mark, buffer, size, length);
      return view().getUint32(length, true);
    });
  });
}

/** Whether something of some texts is drawn, whatever their color. */
function draws(pdfium: Pdfium, page: number, texts: Leaf[]): boolean {
  for (const { object } of texts) {
    pdfium.FPDFTextObj_SetTextRenderMode(object, 0);
    pdfium.FPDFPageObj_SetFillColor(object, black, black, black, 0xff);
  }
  return drawSmall(pdfium, page)?.some((level) => level !== white) ?? true;
}

/** The levels of the pixels of a page as it is drawn, row by row; undefined if there is not enough memory. */
export function drawSmall(pdfium: Pdfium, page: number): Uint8Array | undefined {
  const { width, height } = bitmap;
  const size = width * height * channels;
  return withMemory(pdfium, size, (address) => {
    const handle = address === 0 ? 0 : pdfium.FPDFBitmap_CreateEx(width, height, blueGreenRed, address, width * channels);
    if (handle === 0) return undefined;
    try {
      pdfium.pdfium.HEAPU8.fill(white, address, address + size);
      pdfium.FPDF_RenderPageBitmap(handle, page, 0, 0, width, height, 0, 0);
      return pdfium.pdfium.HEAPU8.slice(address, address + size);
    } finally {
      pdfium.FPDFBitmap_Destroy(handle);
    }
  });
}
