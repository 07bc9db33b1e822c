import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import sharp from 'sharp';
import { contradictionOf } from '../../ai/formats/recognize-content.ts';
import { contentTypes, extraKinds as extraContentTypes } from '../../contract/content-types.ts';

const of = (contentType: string, content: Uint8Array | string) => contradictionOf(contentType, Buffer.from(content as string));

describe('What a file is by its first bytes', () => {
  const notice = readFileSync('docs/examples/samples/trail-notice.png');

  it('contradicts every other declared type', async () => {
    const files: [string, string, Buffer][] = [
      ['application/pdf', 'a PDF', readFileSync('docs/examples/samples/observatory-handbook.pdf')],
      ['image/png', 'a PNG image', notice],
      ['image/jpeg', 'a JPEG image', await sharp(notice).flatten().jpeg().toBuffer()],
      ['image/webp', 'a WebP image', await sharp(notice).webp().toBuffer()],
      ['image/tiff', 'a TIFF image', await sharp(notice).tiff().toBuffer()],
    ];
    for (const [own, name, bytes] of files) {
      for (const declared of contentTypes)
        expect(of(declared, bytes), `${name} as ${declared}`).to.equal(declared === own ? undefined : name);
    }
    const foreign: [string, Buffer][] = [
      ['a GIF image', await sharp(notice).gif().toBuffer()],
      ['a ZIP archive', Buffer.from('PK\x03\x04\x14\0\0\0', 'latin1')],
      ['a compressed file', Buffer.from('\x1f\x8b\x08\0\0', 'latin1')],
      ['an Office document of the old format, or an encrypted one', Buffer.from('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0', 'latin1')],
    ];
    for (const [name, bytes] of foreign) for (const declared of contentTypes) expect(of(declared, bytes), declared).to.equal(name);
  });

  it('tells archives and RTF from what they cannot be', () => {
    const zip = Buffer.from('PK\x03\x04\x14\0\0\0', 'latin1');
    for (const type of [extraContentTypes.docx, extraContentTypes.odt, extraContentTypes.epub]) {
      expect(of(type, zip), type).to.equal(undefined);
      expect(of(type, '{\\rtf1'), type).to.equal('an RTF document');
    }
    expect(of(extraContentTypes.rtf, zip)).to.equal('a ZIP archive');
    expect(of(extraContentTypes.eml, zip)).to.equal('a ZIP archive');
    for (const type of [extraContentTypes.rtf, 'text/plain']) expect(of(type, '{\\rtf1'), type).to.equal(undefined);
  });

  it('never contradicts a text as another text', () => {
    const texts = [
      'a,b\n1,2',
      '{"a":1}',
      '# Title',
      '<html><p>page',
      '  <!DOCTYPE html><p>page',
      'PK is a code',
      'BM',
      'II*',
      'GIF89a is a format of 1989',
      '%PDF-1.4 is how a PDF begins',
      '',
    ];
    for (const text of texts) {
      for (const declared of ['text/plain', 'text/markdown', 'text/csv', 'text/html', 'application/json']) {
        expect(of(declared, text), `${text} as ${declared}`).to.equal(undefined);
      }
    }
    const encoded = Buffer.from('\ufeffUTF-16 text', 'utf16le');
    expect(of('text/plain', encoded)).to.equal(undefined);
    expect(of('text/plain', Buffer.alloc(2_000)), 'zeros').to.equal(undefined);
  });

  it('contradicts a text if it is a program, a film or an archive of any kind', () => {
    const size = Buffer.alloc(4);
    size.writeUInt32BE(24);
    const numbers = Uint32Array.from({ length: 16 }, (_, index) => (index === 0 ? 0x950412de : index * 700));
    const binaries: [string, Buffer][] = [
      ['EXE', Buffer.concat([Buffer.from('MZ\x90\0\x03\0\0\0\x04\0\0\0\xff\xff\0\0\xb8\0\0\0', 'latin1'), Buffer.alloc(40)])],
      ['MP4', Buffer.concat([size, Buffer.from('ftypisom\0\0\x02\0isomiso2')])],
      ['7z', Buffer.from('7z\xbc\xaf\x27\x1c\0\x04\xa1\x17\x5e\x2b\x40\x11\0\0\0\0\0\0', 'latin1')],
      ['RAR', Buffer.concat([Buffer.from('Rar!\x1a\x07\0', 'latin1'), Buffer.alloc(1_000, 0xc7)])],
      // The detector of charsets takes it for UTF-16.
      ['catalogue of messages', Buffer.concat([Buffer.from(numbers.buffer), Buffer.from('message\0'.repeat(20))])],
    ];
    for (const [name, bytes] of binaries)
      for (const declared of ['text/plain', 'text/markdown', 'text/csv', 'text/html', 'application/json'])
        expect(of(declared, bytes), `${name} as ${declared}`).to.equal('a binary file');
    for (const [name, bytes] of binaries) expect(of('application/pdf', bytes), name).to.equal(undefined);
  });

  it('lets text in UTF-16 pass, with its mark or without', () => {
    const words = 'The tenant pays for the café, 20 €.\r\n';
    const little = Buffer.from(words.repeat(50), 'utf16le');
    const cyrillic = Buffer.from('\ufeffПлатит арендатор.', 'utf16le');
    for (const bytes of [little, Buffer.from(little).swap16(), cyrillic, Buffer.from(cyrillic).swap16()])
      expect(of('text/plain', bytes), bytes.toString('latin1', 0, 40)).to.equal(undefined);
    expect(of('text/plain', Buffer.from('Grüße', 'latin1'))).to.equal(undefined);
  });

  it('finds a web page that was saved under another name', () => {
    for (const page of ['<!doctype html>\n<title>Sign in', '\ufeff<HTML lang="en">', '\n\n<html>']) {
      expect(of('application/pdf', page)).to.equal('an HTML page');
      expect(of('image/png', page)).to.equal('an HTML page');
    }
  });

  it('lets pass what it does not know, which its reader refuses', () => {
    for (const content of ['no PDF at all', '\0\0\0', '', '%PDF']) expect(of('application/pdf', content)).to.equal(undefined);
    // Bytes before the header are allowed to a PDF.
    expect(of('application/pdf', `\n%PDF-1.7\n`)).to.equal(undefined);
  });
});
