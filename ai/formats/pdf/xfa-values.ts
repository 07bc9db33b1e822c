import { localName, scanXml } from '../office/scan-xml.ts';
import { type Pdfium, readBytes, withMemory } from './pdfium.ts';

const xhtml = 'http://www.w3.org/1999/xhtml';
const maxNameBytes = 64;

/** The packet of a form of XML that holds what was entered; undefined if there is none. All of a form that is one piece. */
export function readXfaData(pdfium: Pdfium, document: number, maxBytes: number): Uint8Array | undefined {
  for (let index = 0; index < pdfium.FPDF_GetXFAPacketCount(document); index += 1) {
    if (!['datasets', ''].includes(nameOf(pdfium, document, index))) continue;
    return readBytes(pdfium, maxBytes, (buffer, size, length) => pdfium.FPDF_GetXFAPacketContent(document, index, buffer, size, length));
  }
  return undefined;
}

function nameOf(pdfium: Pdfium, document: number, index: number): string {
  return withMemory(pdfium, maxNameBytes, (buffer) => {
    const length = pdfium.FPDF_GetXFAPacketName(document, index, buffer, maxNameBytes);
    return Buffer.from(pdfium.pdfium.HEAPU8.buffer, buffer, Math.min(Math.max(0, length - 1), maxNameBytes)).toString('latin1');
  });
}

/** A line for each value of a form: `Applicant.Name: Ada`. Throws as {@link scanXml}. */
export async function readXfaValues(data: Uint8Array): Promise<string> {
  const lines: string[] = [];
  const open: string[] = [];
  let [value, formatted] = ['', 0];
  const endValue = () => {
    // Around the fields stand `datasets`, `data` and the name of the form.
    const path = open.slice(open.indexOf('data') + 2);
    if (value.trim() !== '' && path.length > 0) lines.push(`${path.join('.')}: ${value.replace(/\s+/g, ' ').trim()}`);
    value = '';
  };
  await scanXml([new TextDecoder().decode(data)], {
    open(name, { xmlns }) {
      if (formatted > 0 || xmlns === xhtml) {
        formatted += 1;
        value += ' ';
        return;
      }
      endValue();
      open.push(localName(name));
    },
    close() {
      if (formatted > 0) formatted -= 1;
      else {
        endValue();
        open.pop();
      }
    },
    text(text) {
      if (open.includes('datasets') && open.includes('data')) value += text;
    },
  });
  return lines.join('\n');
}
