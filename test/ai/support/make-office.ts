import { makeZip, type ZipFile } from './make-zip.ts';

const office = 'application/vnd.openxmlformats-officedocument';
const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';

function types(parts: Record<string, string>): ZipFile {
  const overrides = Object.entries(parts).map(([part, type]) => `<Override PartName="/${part}" ContentType="${office}.${type}+xml"/>`);
  return { name: '[Content_Types].xml', content: `${declaration}<Types>${overrides.join('')}</Types>` };
}

function relations(name: string, targets: Record<string, string>): ZipFile {
  const list = Object.entries(targets).map(([id, target]) => `<Relationship Id="${id}" Target="${target}"/>`);
  const outside = '<Relationship Id="far" Target="http://127.0.0.1:9/secret" TargetMode="External"/>';
  return { name, content: `${declaration}<Relationships>${list.join('')}${outside}</Relationships>` };
}

/** A Word document whose body is this XML, with a footnote and a header. */
export function makeDocx(body: string, more: ZipFile[] = []): Buffer {
  const part = (name: string, content: string) => ({ name: `word/${name}.xml`, content: `${declaration}${content}` });
  return makeZip([
    types({ 'word/document.xml': 'wordprocessingml.document.main' }),
    part('document', `<w:document><w:body>${body}</w:body></w:document>`),
    part('footnotes', '<w:footnotes><w:footnote><w:p><w:r><w:t>A footnote.</w:t></w:r></w:p></w:footnote></w:footnotes>'),
    part('header1', '<w:hdr><w:p><w:r><w:t>On every page</w:t></w:r></w:p></w:hdr>'),
    ...more,
  ]);
}

/** A paragraph of a Word document. */
export function wordParagraph(text: string): string {
  return `<w:p><w:pPr><w:pStyle w:val="Normal"/></w:pPr><w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;
}

/** The styles of a Word document, as this XML. */
export function wordStyles(xml: string): ZipFile {
  return { name: 'word/styles.xml', content: `${declaration}<w:styles>${xml}</w:styles>` };
}

/** A presentation; the slides are stored in another order than they are shown in. `properties` stand behind their list. */
export function makePptx(slides: string[], more: ZipFile[] = [], properties = ''): Buffer {
  const count = slides.length;
  const part = (index: number) => `slides/slide${count - index}.xml`;
  const ids = slides.map((_, index) => `<p:sldId id="${256 + index}" r:id="r${index}"/>`);
  return makeZip([
    types({ 'ppt/presentation.xml': 'presentationml.presentation.main' }),
    {
      name: 'ppt/presentation.xml',
      content: `${declaration}<p:presentation><p:sldIdLst>${ids.join('')}</p:sldIdLst>${properties}</p:presentation>`,
    },
    relations('ppt/_rels/presentation.xml.rels', Object.fromEntries(slides.map((_, index) => [`r${index}`, part(index)]))),
    ...slides.map((xml, index) => ({ name: `ppt/${part(index)}`, content: `${declaration}<p:sld>${xml}</p:sld>` })),
    ...more,
  ]);
}

/** A workbook of one sheet, Prices, with these rows of cells; `properties` stand before its sheets, `formats` before its styles. */
export function makeXlsx(rows: string, shared: string[] = [], properties = '', formats = '', more: ZipFile[] = []): Buffer {
  return makeZip([
    types({ 'xl/workbook.xml': 'spreadsheetml.sheet.main' }),
    {
      name: 'xl/workbook.xml',
      content: `${declaration}<workbook>${properties}<sheets><sheet name="Prices" sheetId="1" r:id="r1"/></sheets></workbook>`,
    },
    relations('xl/_rels/workbook.xml.rels', { r1: '/xl/worksheets/sheet1.xml' }),
    { name: 'xl/sharedStrings.xml', content: `${declaration}<sst>${shared.map((text) => `<si><t>${text}</t></si>`).join('')}</sst>` },
    {
      name: 'xl/styles.xml',
      content: `${declaration}<styleSheet>${formats}<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>`,
    },
    {
      name: 'xl/worksheets/sheet1.xml',
      content: `${declaration}<worksheet><sheetData>${rows}</sheetData>${more.length > 0 ? '<drawing r:id="x1"/>' : ''}</worksheet>`,
    },
    ...more,
  ]);
}

const relationshipTypes = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

/** The relations of a part, by their ids: the type of each, and the part that it leads to. */
export function relationsOf(part: string, targets: Record<string, [type: string, target: string]>): ZipFile {
  const absolute = Object.entries(targets).map(([id, [type, target]]): [string, [string, string]] => [id, [type, `/${target}`]]);
  return typedRelations(part.replace(/([^/]+)$/, '_rels/$1.rels'), Object.fromEntries(absolute));
}

/** Relationships with their types, by the ids. */
function typedRelations(name: string, targets: Record<string, [type: string, target: string]>): ZipFile {
  const list = Object.entries(targets).map(
    ([id, [type, target]]) => `<Relationship Type="${relationshipTypes}/${type}" Target="${target}" Id="${id}"/>`,
  );
  return { name, content: `${declaration}<Relationships>${list.join('')}</Relationships>` };
}

/** The files that say what is in a document, as .NET writes them: the type of the main part is that of its extension. */
function packaging(main: string, type: string, others: Record<string, string> = {}): ZipFile[] {
  const overrides = Object.entries(others).map(([part, other]) => `<Override PartName="/${part}" ContentType="${office}.${other}+xml"/>`);
  const rels = '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>';
  const types = `${rels}<Default Extension="xml" ContentType="${office}.${type}+xml"/>${overrides.join('')}`;
  return [
    { name: '[Content_Types].xml', content: `${declaration}<Types>${types}</Types>` },
    typedRelations('_rels/.rels', { R1: ['officeDocument', `/${main}`] }),
  ];
}

/** A Word document as .NET writes it, whose body is this XML. */
export function makeNetDocx(body: string): Buffer {
  return makeZip([
    ...packaging('word/document.xml', 'wordprocessingml.document.main', { 'word/footnotes2.xml': 'wordprocessingml.footnotes' }),
    { name: 'word/document.xml', content: `${declaration}<w:document><w:body>${body}</w:body></w:document>` },
    typedRelations('word/_rels/document.xml.rels', { R2: ['footnotes', 'footnotes2.xml'] }),
    {
      name: 'word/footnotes2.xml',
      content: `${declaration}<w:footnotes><w:footnote>${wordParagraph('A footnote.')}</w:footnote></w:footnotes>`,
    },
  ]);
}

/** A presentation of one slide as .NET writes it. */
export function makeNetPptx(slide: string): Buffer {
  return makeZip([
    ...packaging('ppt/presentation.xml', 'presentationml.presentation.main', { 'ppt/slides/slide.xml': 'presentationml.slide' }),
    {
      name: 'ppt/presentation.xml',
      content: `${declaration}<p:presentation><p:sldIdLst><p:sldId id="256" rel:id="R1"/></p:sldIdLst></p:presentation>`,
    },
    typedRelations('ppt/_rels/presentation.xml.rels', { R1: ['slide', '/ppt/slides/slide.xml'] }),
    { name: 'ppt/slides/slide.xml', content: `${declaration}<p:sld>${slide}</p:sld>` },
  ]);
}

/** A workbook of one sheet, Prices, as .NET writes it: its elements have a prefix. */
export function makeNetXlsx(rows: string, shared: string[]): Buffer {
  const parts = { 'xl/worksheets/sheet.xml': 'spreadsheetml.worksheet', 'xl/strings.xml': 'spreadsheetml.sharedStrings' };
  const strings = shared.map((text) => `<x:si><x:t>${text}</x:t></x:si>`).join('');
  return makeZip([
    ...packaging('xl/workbook.xml', 'spreadsheetml.sheet.main', parts),
    {
      name: 'xl/workbook.xml',
      content: `${declaration}<x:workbook><x:sheets><x:sheet name="Prices" sheetId="1" rel:id="R1"/></x:sheets></x:workbook>`,
    },
    typedRelations('xl/_rels/workbook.xml.rels', {
      R1: ['worksheet', '/xl/worksheets/sheet.xml'],
      R2: ['sharedStrings', '/xl/strings.xml'],
      R3: ['styles', '/xl/formats.xml'],
    }),
    { name: 'xl/strings.xml', content: `${declaration}<x:sst>${strings}</x:sst>` },
    {
      name: 'xl/formats.xml',
      content: `${declaration}<x:styleSheet><x:cellXfs><x:xf numFmtId="0"/><x:xf numFmtId="14"/></x:cellXfs></x:styleSheet>`,
    },
    { name: 'xl/worksheets/sheet.xml', content: `${declaration}<x:worksheet><x:sheetData>${rows}</x:sheetData></x:worksheet>` },
  ]);
}

/** An OpenDocument text whose body is this XML. */
export function makeOdt(body: string, manifest = '', styles = '', more: ZipFile[] = []): Buffer {
  return makeZip([
    { name: 'mimetype', content: 'application/vnd.oasis.opendocument.text' },
    { name: 'META-INF/manifest.xml', content: `${declaration}<manifest:manifest>${manifest}</manifest:manifest>` },
    {
      name: 'content.xml',
      content: `${declaration}<office:document-content><office:automatic-styles>${styles}</office:automatic-styles><office:body><office:text>${body}</office:text></office:body></office:document-content>`,
    },
    ...more,
  ]);
}

/** A book of chapters, in files whose names end so; `place` is the part of their addresses that leads to a place in them. */
export function makeEpub(
  chapters: string[],
  more: ZipFile[] = [],
  { ending = 'xhtml', type = 'application/xhtml+xml', place = '' } = {},
): Buffer {
  const items = chapters.map((_, index) => `<item id="c${index}" href="text/chapter%20${index}.${ending}${place}" media-type="${type}"/>`);
  const order = chapters.map((_, index) => `<itemref idref="c${index}"/>`);
  return makeZip([
    { name: 'mimetype', content: 'application/epub+zip' },
    { name: 'META-INF/container.xml', content: '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>' },
    { name: 'OEBPS/book.opf', content: `<package><manifest>${items.join('')}</manifest><spine>${order.join('')}</spine></package>` },
    ...chapters.map((text, index) => ({ name: `OEBPS/text/chapter ${index}.${ending}`, content: `<html><body>${text}</body></html>` })),
    ...more,
  ]);
}
