const begin = /^begin [0-7]{3,4} (\S.*)$/;
/** A data line: the count of its bytes, and four signs for each three of them. */
const data = /^[\x21-\x5f][\x20-\x60]*$/;

/** A file within a text. It has no bytes if its end is missing. */
export interface UuencodedFile {
  name: string;
  bytes: Buffer;
}

/** Takes out of a text the files that stand in it as uuencode writes them, as in mails from before MIME. */
export function takeUuencoded(text: string): { text: string; files: UuencodedFile[] } {
  if (!text.includes('begin ')) return { text, files: [] };
  const lines = text.split(/\r?\n/);
  const kept: string[] = [];
  const files: UuencodedFile[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const [, name] = begin.exec((lines[at] ?? '').trimEnd()) ?? [];
    const first = lines[at + 1] ?? '';
    if (name === undefined || !data.test(first) || first.length <= signsOf(first)) {
      kept.push(lines[at] ?? '');
      continue;
    }
    at += 1;
    const start = at;
    while (isData(lines[at] ?? '')) at += 1;
    const isWhole = /^[ `]?\s*$/.test(lines[at] ?? '-') && lines[at + 1]?.trim() === 'end';
    files.push({ name, bytes: decode(isWhole ? lines.slice(start, at) : []) });
    at += isWhole ? 1 : -1;
  }
  return { text: kept.join('\n'), files };
}

/** Its spaces, which mean zeros, may have been cut off, and a sign to check it may have been added. */
function isData(line: string): boolean {
  return data.test(line) && line.length <= signsOf(line) + 2;
}

function signsOf(line: string): number {
  return Math.ceil(countOf(line) / 3) * 4;
}

function countOf(line: string): number {
  return line.charCodeAt(0) - 0x20;
}

/** Decodes lines into one buffer: there may be millions, each of a few bytes. */
function decode(lines: string[]): Buffer {
  const bytes = Buffer.alloc(lines.reduce((sum, line) => sum + countOf(line), 0));
  let written = 0;
  for (const line of lines)
    for (let index = 0; index < countOf(line); index += 1) {
      // Each sign holds six bits.
      const sign = 1 + index + Math.floor(index / 3);
      const shift = (index % 3) * 2;
      bytes[written] = (bitsAt(line, sign) << (2 + shift)) | (bitsAt(line, sign + 1) >> (4 - shift));
      written += 1;
    }
  return bytes;
}

function bitsAt(line: string, index: number): number {
  return ((line.charCodeAt(index) || 0x20) - 0x20) & 0x3f;
}
