import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import sharp from 'sharp';
import { contentTypes, extraKinds as extra } from '../../contract/content-types.ts';
import { pdfBomb, pngBomb } from '../lab/bombs.ts';
import { nightly } from '../support/nightly.ts';
import { makeDocx, makeEpub, makeOdt, makePptx, makeXlsx, wordParagraph } from './support/make-office.ts';
import { makeZip } from './support/make-zip.ts';
import { useAiService } from './support/use-ai-service.ts';

const sample = (name: string) => readFileSync(`docs/examples/samples/${name}`);
const page = sharp({ create: { width: 300, height: 80, channels: 3, background: 'white' } });
const deep = 100_000;
const entities = '<!DOCTYPE a [<!ENTITY b "bomb"><!ENTITY c "&b;&b;&b;">]>&c;';
const ofAnotherFile = '<!DOCTYPE a [<!ENTITY c SYSTEM "file:///etc/passwd">]>&c;';
const tooFar = '413 expands_too_far';
const unreadable = '422 unreadable_document';

/** A document of each kind as it should be. */
const good: Record<string, () => Promise<Buffer> | Buffer> = {
  'application/pdf': () => sample('observatory-handbook.pdf'),
  'text/plain': () => sample('lighthouse-log.txt'),
  'text/markdown': () => sample('beekeeping-notes.md'),
  'text/csv': () => sample('seed-inventory.csv'),
  'text/html': () => sample('ferry-timetable.html'),
  'application/json': () => Buffer.from('{"a": [1, "two"]}'),
  'image/png': () => page.png().toBuffer(),
  'image/jpeg': () => page.jpeg().toBuffer(),
  'image/webp': () => page.webp().toBuffer(),
  'image/tiff': () => page.tiff({ compression: 'none' }).toBuffer(),
  [extra.docx]: () => makeDocx(wordParagraph('well')),
  [extra.pptx]: () => makePptx(['<a:p><a:r><a:t>well</a:t></a:r></a:p>']),
  [extra.xlsx]: () => makeXlsx('<row><c><v>1</v></c></row>'),
  [extra.odt]: () => makeOdt('<text:p>well</text:p>'),
  [extra.epub]: () => makeEpub(['<p>well</p>']),
  [extra.eml]: () => Buffer.from('Subject: well\r\n\r\nwell'),
  [extra.rtf]: () => Buffer.from('{\\rtf1 well}'),
};

const zipOf = (name: string, content: string | Buffer, claims = {}) => makeZip([{ name, content, claims }]);

/** What only this kind can do: the files, and what each is refused with, or that it is read. What archives can do, one kind does for all. */
const special: Record<string, () => Promise<[Buffer, string][]> | [Buffer, string][]> = {
  'application/pdf': () => [[pdfBomb().bytes, 'read or refused']],
  'text/plain': () => [[Buffer.from('a'.repeat(deep)), 'read']],
  'text/markdown': () => [[Buffer.from('> '.repeat(deep)), 'read']],
  'text/csv': () => [[Buffer.from(`a,"${'b\n'.repeat(deep)}`), 'read']],
  'text/html': () => [[Buffer.from(`${'<div>'.repeat(deep)}well`), 'read']],
  'application/json': () => [[Buffer.from('['.repeat(deep)), 'read']],
  'image/png': () => [[pngBomb().bytes, '415 unreadable_image']],
  'image/jpeg': async () => [[await claimPixels('image/jpeg'), '415 unreadable_image']],
  'image/webp': async () => [[await claimPixels('image/webp'), '415 unreadable_image']],
  'image/tiff': async () => [[await claimPixels('image/tiff'), '415 unreadable_image']],
  [extra.docx]: () => [
    ...inXml((xml) => makeDocx(xml)),
    [makeDocx(' '.repeat(257 * 1024 * 1024)), tooFar],
    [makeZip(Array.from({ length: 10_001 }, (_, index) => ({ name: `${index}`, content: '' }))), tooFar],
    [zipOf('[Content_Types].xml', Buffer.alloc(20 * 1024 * 1024), { unpackedBytes: 100 }), unreadable],
    [zipOf('[Content_Types].xml', 'x', { encrypted: true }), '422 encrypted_document'],
    [makeDocx(wordParagraph('well')).subarray(0, -40), unreadable],
  ],
  [extra.pptx]: () => inXml((xml) => makePptx([xml])),
  [extra.xlsx]: () => inXml((xml) => makeXlsx(xml)),
  [extra.odt]: () => [
    ...inXml((xml) => makeOdt(xml)),
    [makeZip(Array(2).fill({ name: 'mimetype', content: extra.odt })), unreadable],
    ...['../../etc/passwd', '/etc/passwd', 'C:/secret'].map((name): [Buffer, string] => [
      makeOdt('<text:p>well</text:p>', '', '', [{ name, content: '' }]),
      unreadable,
    ]),
  ],
  [extra.eml]: () => {
    const parts = Array.from({ length: 200 }, (_, index) => `Content-Type: multipart/mixed; boundary=b${index}\r\n\r\n--b${index}\r\n`);
    return [[Buffer.from(`Subject: deep\r\n${parts.join('')}`), unreadable]];
  },
  [extra.rtf]: () => [[Buffer.from(`{\\rtf1${'{'.repeat(deep)}`), unreadable]],
};

function inXml(make: (xml: string) => Buffer): [Buffer, string][] {
  return ['<x>'.repeat(deep), entities, ofAnotherFile].map((xml) => [make(xml), unreadable]);
}

/** An image that says it is 16,383 pixels wide and high, or more. */
async function claimPixels(type: 'image/jpeg' | 'image/webp' | 'image/tiff'): Promise<Buffer> {
  const image = (await good[type]?.()) as Buffer;
  if (type === 'image/jpeg') image.fill(0xff, image.indexOf('ffc0', 'hex') + 5, image.indexOf('ffc0', 'hex') + 9);
  if (type === 'image/webp') image.writeUInt32LE(0x3fff_3fff, image.indexOf('9d012a', 'hex') + 3);
  if (type === 'image/tiff') {
    const directory = image.readUInt32LE(4);
    for (let entry = directory + 2; entry < directory + 2 + 12 * image.readUInt16LE(directory); entry += 12)
      if ([256, 257].includes(image.readUInt16LE(entry))) image.writeUInt16LE(60_000, entry + 8);
  }
  return image;
}

/** What can be done to a file of any kind. */
function damaged(file: Buffer): Buffer[] {
  const scratched = Buffer.from(file);
  for (let at = 7; at < scratched.length; at += 97) scratched[at] = 255 - (scratched[at] ?? 0);
  const random = createHash('shake256', { outputLength: 200_000 }).update('the same in each run').digest();
  const noise = Buffer.concat([file.subarray(0, 16), random]);
  return [Buffer.alloc(0), Buffer.alloc(200_000), noise, file.subarray(0, file.length >> 1), scratched, Buffer.concat([file, file])];
}

describe('A hostile document at /v1/extract', () => {
  const time = { OCR_TIMEOUT_SECONDS: '200', EXTRACT_TIMEOUT_SECONDS: '200' };
  const service = useAiService({ OCR_PROVIDER: 'local', EXTRA_CONTENT_TYPES: 'all', ...time });

  /** `read`, or the status and the code of a refusal. Anything else fails the test. */
  async function send(body: Buffer, contentType: string): Promise<string> {
    const response = await service.extract(body as never, contentType);
    const { text, error } = (await response.json()) as any;
    if (response.status === 200 && typeof text === 'string') return 'read';
    expect([413, 415, 422], JSON.stringify(error)).to.include(response.status);
    expect(error).to.have.all.keys('code', 'message');
    expect(error.message).to.match(/^[A-Z].{10,}\.$/);
    return `${response.status} ${error.code}`;
  }

  it('may be of every kind that can be uploaded', () => {
    expect(Object.keys(good)).to.have.members([...contentTypes, ...Object.values(extra)]);
  });

  // Those take the longest, and are decoded as a PNG is.
  const byNight = ['image/jpeg', 'image/webp'];
  for (const type of Object.keys(good)) {
    (byNight.includes(type) ? nightly : it)(`is read or refused with a code, and the next one is read: ${type}`, async () => {
      const file = (await good[type]?.()) as Buffer;
      for (const bytes of damaged(file)) await send(bytes, type);
      expect(await send(Buffer.alloc(0), type)).to.equal('422 empty_document');
      for (const [bytes, outcome] of (await special[type]?.()) ?? []) {
        const found = await send(bytes, type);
        if (outcome !== 'read or refused') expect(found).to.equal(outcome);
      }
      expect(await send(file, type)).to.equal('read');
      expect(await service.client.health()).to.include({ ok: true });
    });
  }

  it('is refused as another kind of archive than it is', async () => {
    const docx = makeDocx(wordParagraph('well'));
    for (const type of Object.values(extra).filter((other) => other !== extra.docx))
      expect(await send(docx, type), type).to.equal(unreadable);
  });
});
