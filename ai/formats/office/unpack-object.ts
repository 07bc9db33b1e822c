import { posix, win32 } from 'node:path';
import CFB from 'cfb';
import type { EmbeddedFile } from '../embedded-file.ts';
import { decodeText } from '../text/decode-text.ts';

const compound = '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1';
/** A file that was put into a document as it is, with its name. */
const nativeStream = '\u0001Ole10Native';
/** Streams that are a file of the program of the object: one of Office since 2007, and a PDF. */
const fileStreams = new Set(['Package', 'CONTENTS']);
/** The ends of the names of files by the programs that make them, and by how the files begin. */
const endsByProgram: [RegExp, string][] = [
  [/^Word\.(?:Document|Template)/, '.docx'],
  [/^PowerPoint\.(?:Show|Template)/, '.pptx'],
  [/^Excel\.Sheet/, '.xlsx'],
];

/**
 * The file that is in a part of an Office document: the part itself, or what a compound file (OLE) packs. Undefined if that is damaged, or
 * holds only the data of an older program. The name ends in `.bin` if nothing tells another one.
 */
export function unpackObject(bytes: Buffer, part: string, program = ''): EmbeddedFile | undefined {
  const name = posix.basename(part);
  if (!bytes.toString('latin1', 0, compound.length).startsWith(compound)) return { name: nameFor(name, bytes, program), bytes };
  for (const [stream, content] of readStreams(bytes)) {
    if (stream === nativeStream) return readNative(content);
    if (fileStreams.has(stream)) return { name: nameFor(name, content, program), bytes: content };
  }
  return undefined;
}

/** The streams at the root of a compound file; none if it is damaged. */
function readStreams(bytes: Buffer): [name: string, content: Buffer][] {
  try {
    return CFB.read(bytes, { type: 'buffer' }).FileIndex.flatMap(({ name, type, content }) =>
      type === streamType && content ? [[name, Buffer.from(content as Uint8Array)] as [string, Buffer]] : [],
    );
  } catch {
    // The library throws plain errors for what it cannot parse.
    return [];
  }
}

const streamType = 2;

/** A name that tells the kind of the file, where that of the part does not. */
function nameFor(name: string, bytes: Buffer, program: string): string {
  if (!/\.bin$/i.test(name)) return name;
  const isPdf = bytes.toString('latin1', 0, 5) === '%PDF-';
  const end = isPdf ? '.pdf' : endsByProgram.find(([programs]) => programs.test(program))?.[1];
  return end === undefined ? name : `${name.slice(0, -'.bin'.length)}${end}`;
}

/** Reads a size, two bytes, the label, the path it came from, 8 bytes, the path it went to, the size of the file and its bytes. */
function readNative(stream: Buffer): EmbeddedFile | undefined {
  const endOf = (start: number) => stream.indexOf(0, start) + 1;
  const labelAt = 6;
  const pathAt = endOf(labelAt);
  const rest = pathAt && endOf(pathAt);
  const sizeAt = rest && endOf(rest + 8);
  if (!sizeAt || sizeAt + 4 > stream.length) return undefined;
  const bytes = stream.subarray(sizeAt + 4, sizeAt + 4 + stream.readUInt32LE(sizeAt));
  const [label, path] = [stream.subarray(labelAt, pathAt - 1), stream.subarray(pathAt, rest - 1)].map((text) =>
    win32.basename(decodeText(text, undefined).text),
  ) as [string, string];
  // A user may change the label, which then tells no kind.
  return { name: win32.extname(label) === '' && win32.extname(path) !== '' ? path : label, bytes };
}
