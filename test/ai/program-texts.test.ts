import { expect } from 'chai';
import { read } from './support/read.ts';

describe('A text that a program wrote', () => {
  it('is read with letters instead of their escapes in JSON, as long as it means the same', async () => {
    const json = String.raw`{"Gr\u00f6\u00dfe":"\ud83d\ude00 \u20ac","path":"C:\\u00e9","two":"\\\u00e9","signs":"\u0022\u0000\u2028\ud83d"}`;
    const { text, notices } = await read(json, 'application/json');
    expect(text).to.equal(String.raw`{"Größe":"😀 €","path":"C:\\u00e9","two":"\\é","signs":"\u0022\u0000\u2028\ud83d"}`);
    expect(JSON.parse(text)).to.deep.equal(JSON.parse(json));
    expect(notices).to.equal(undefined);
  });

  it('is read without the codes of terminals, and letters that are set twice once', async () => {
    expect((await read('N\bNA\bAM\bME\bE _\bx', 'text/plain')).text).to.equal('NAME x');
    const log = '\u001b[1;31mERROR\u001b[0m disk full\n\u001b]0;a window\u0007done\u001b[2K';
    expect((await read(log, 'text/plain')).text).to.equal('ERROR disk full\ndone');
  });
});
