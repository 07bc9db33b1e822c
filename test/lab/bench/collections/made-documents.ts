import PDFDocument from 'pdfkit';
import { parts } from '../../../../docs/examples/samples/handbook.ts';
import type { MadeDocument } from './made-document.ts';
import { makeLayouts } from './made-layouts.ts';

const prose = parts.flatMap((part) => (part.kind === 'paragraph' ? [part.text] : []));
const created = new Date('2024-05-01T00:00:00Z');

const finish = async (document: PDFKit.PDFDocument): Promise<Buffer> => {
  document.end();
  return Buffer.concat(await document.toArray());
};

/** A paper in two columns, with a running header on each side, numbers of pages, and words that line ends part. */
async function paper(): Promise<MadeDocument> {
  const document = new PDFDocument({ size: 'A4', margin: 60, bufferPages: true, info: { CreationDate: created } });
  const heads = ['Korvid Ridge Reports', 'On nights and lamps'];
  document.font('Times-Roman').fontSize(11).text(prose.map(hyphenate).join('\n\n'), { columns: 2, columnGap: 24, lineGap: 1 });
  const { count } = document.bufferedPageRange();
  for (let page = 0; page < count; page += 1) {
    document.switchToPage(page);
    document.page.margins = { top: 0, bottom: 0, left: 0, right: 0 };
    document.fontSize(9).text(heads[page % 2] ?? '', 60, 30, { lineBreak: false });
    document.text(String(page + 101), 290, 810, { lineBreak: false });
  }
  return { name: 'PDF, two columns', mediaType: 'application/pdf', bytes: await finish(document), text: [...heads, ...prose].join('\n') };
}

/** With a hyphen and a line end within some words, as a typesetter leaves them. */
function hyphenate(text: string): string {
  return text.replace(/(?<=\s)([a-z]{5})([a-z]{4,})(?=\s)/g, (word, start: string, end: string, at: number) =>
    at % 5 === 0 ? `${start}-\n${end}` : word,
  );
}

const rows = Array.from({ length: 90 }, (_, index) => [
  String(index + 1),
  ['Manila rope', 'Stockholm tar', 'Brass cleat', 'Lamp oil', 'Sail needle'][index % 5] ?? '',
  String(1 + ((index * 7) % 12)),
  `${(4.5 + index * 1.25).toFixed(2)} EUR`,
]);
const columns = ['Item', 'Article', 'Count', 'Price'];

/** An invoice whose table goes on over pages, each with the same header and a footer that counts them. */
async function invoice(): Promise<MadeDocument> {
  const document = new PDFDocument({
    size: 'A4',
    margins: { top: 90, bottom: 80, left: 60, right: 60 },
    bufferPages: true,
    info: { CreationDate: created },
  });
  document
    .font('Helvetica')
    .fontSize(10)
    .text('Invoice for the harbour office of Oldwick', { paragraphGap: 12 })
    .table({ data: [columns, ...rows] });
  document.moveDown().text('Payable within fourteen days.', 60);
  const { count } = document.bufferedPageRange();
  for (let page = 0; page < count; page += 1) {
    document.switchToPage(page);
    document.page.margins = { top: 0, bottom: 0, left: 0, right: 0 };
    document.fontSize(9).text('Quay & Sons, Harbour Lane 3, invoice INV-2024-117', 60, 40, { lineBreak: false });
    document.text(`Page ${page + 1} of ${count}`, 480, 800, { lineBreak: false });
  }
  const text = [
    'Quay & Sons, Harbour Lane 3, invoice INV-2024-117',
    'Invoice for the harbour office of Oldwick',
    ...[columns, ...rows].map((row) => row.join(' ')),
    'Payable within fourteen days.',
  ];
  return { name: 'PDF, invoice', mediaType: 'application/pdf', bytes: await finish(document), text: text.join('\n') };
}

function page(): MadeDocument {
  const body = prose
    .map((text, index) => `${index % 3 === 0 ? `<h2>Part ${index}</h2>` : ''}<p>${text.replace(/&/g, '&amp;')}</p>`)
    .join('\n');
  const table = `<table><tr>${columns.map((name) => `<th>${name}</th>`).join('')}</tr>${rows
    .slice(0, 12)
    .map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`)
    .join('')}</table>`;
  const links = Array.from({ length: 40 }, (_, index) => `<li><a href="/p${index}">Menu entry ${index}</a></li>`).join('');
  const html = `<!doctype html><html><head><title>Field handbook</title><style>p { margin: 0 }</style><script>start('<p>no</p>')</script></head>
<body><div class="cookie-consent-banner"><p>We use cookies to improve your experience.</p><button>Accept</button></div>
<header><p>Korvid Ridge Observatory</p><nav><ul>${links}</ul></nav></header>
<div class="layout"><aside><h2>Most read</h2><ul>${links}</ul></aside><main><article><h1>Handbook</h1>${body}${table}</article></main></div>
<footer><p>Imprint, privacy, terms</p><ul>${links}</ul></footer></body></html>`;
  const text = [
    'Field handbook',
    'Handbook',
    ...prose.flatMap((one, index) => (index % 3 === 0 ? [`Part ${index}`, one] : [one])),
    ...[columns, ...rows.slice(0, 12)].map((row) => row.join(' ')),
  ];
  return { name: 'HTML', mediaType: 'text/html', bytes: Buffer.from(html), text: text.join('\n') };
}

function markdown(): MadeDocument {
  const paragraphs = prose.map((text, index) =>
    text.replace(
      /\b([a-z]{7,})\b/g,
      (word, _, at: number) => [`**${word}**`, `[${word}](https://example.com/a/${index})`, `_${word}_`, word][at % 4] ?? word,
    ),
  );
  const table = [columns, columns.map(() => '---'), ...rows.slice(0, 12)].map((row) => `| ${row.join(' | ')} |`).join('\n');
  const text = [
    'Handbook',
    ...prose.flatMap((one, index) => [`Part ${index}`, one]),
    ...[columns, ...rows.slice(0, 12)].map((row) => row.join(' ')),
  ];
  const source = ['# Handbook', ...paragraphs.map((one, index) => `## Part ${index}\n\n${one}`), table].join('\n\n');
  return { name: 'Markdown', mediaType: 'text/markdown', bytes: Buffer.from(source), text: text.join('\n') };
}

/** Documents of several kinds with their text. */
export async function makeDocuments(): Promise<MadeDocument[]> {
  return [await paper(), await invoice(), ...(await makeLayouts()), page(), markdown()];
}
