const begin = /^begin [0-7]{3,4} (\S.*?)\s*$/;
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
    const [, name] = begin.exec(lines[at] ?? '') ?? [];
    const first = lines[at + 1] ?? '';
    if (name === undefined || !data.test(first) || first.length <= signsOf(first)) {
      kept.push(lines[at] ?? '');
      continue;
    }
    const bytes: Buffer[] = [];
    for (at += 1; isData(lines[at] ?? ''); at += 1) bytes.push(decodeLine(lines[at] ?? ''));
    const isWhole = /^[ `]?\s*$/.test(lines[at] ?? '-') && lines[at + 1]?.trim() === 'end';
    files.push({ name, bytes: Buffer.concat(isWhole ? bytes : []) });
    at += isWhole ? 1 : -1;
  }
  return { text: kept.join('\n'), files };
}

/** Its spaces, which mean zeros, may have been cut off, and a sign to check it may have been added. */
function isData(line: string): boolean {
  return data.test(line) && line.length <= signsOf(line) + 2;
}

function signsOf(line: string): number {
  return Math.ceil((line.charCodeAt(0) - 0x20) / 3) * 4;
}

function decodeLine(line: string): Buffer {
  const signs = Array.from({ length: signsOf(line) }, (_, index) => ((line.charCodeAt(index + 1) || 0x20) - 0x20) & 0x3f);
  const bytes = Buffer.alloc((signs.length / 4) * 3);
  for (let group = 0; group < signs.length / 4; group += 1)
    bytes.writeUIntBE(
      signs.slice(group * 4, group * 4 + 4).reduce((value, sign) => value * 64 + sign, 0),
      group * 3,
      3,
    );
  return bytes.subarray(0, line.charCodeAt(0) - 0x20);
}
