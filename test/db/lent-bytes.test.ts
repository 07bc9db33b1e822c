import { expect } from 'chai';
import { type LentBytes, lendBytes } from '../../db/lent-bytes.ts';

const megabyte = 1_048_576;

describe('Lent bytes', () => {
  const textOf = ({ bytes, start, end }: LentBytes) => bytes.toString('latin1', start, end);
  const giveBack = (parts: LentBytes[]) => {
    for (const part of parts) part.release();
  };

  it('are those of the text, whatever was lent before and is lent after', () => {
    const texts = Array.from({ length: 300 }, (_, index) => String.fromCharCode(35 + (index % 80)).repeat(8_192));
    const parts = texts.map(lendBytes);
    expect(parts.map(textOf)).to.deep.equal(texts);
    giveBack(parts);
  });

  it('stay as they are until they are given back, while others are', () => {
    const kept = lendBytes('kept');
    for (let round = 0; round < 400; round++) giveBack([lendBytes('x'.repeat(8_192))]);
    expect(textOf(kept)).to.equal('kept');
    kept.release();
  });

  it('are in buffers that are used again', () => {
    const buffers = new Set<Buffer>();
    for (let round = 0; round < 20; round++) {
      const parts = Array.from({ length: 256 }, () => lendBytes('x'.repeat(8_192)));
      for (const { bytes } of parts) buffers.add(bytes);
      giveBack(parts);
    }
    expect(buffers.size).to.be.at.most(4);
  });

  it('are given back once', () => {
    const first = lendBytes('first');
    const second = lendBytes('second');
    first.release();
    first.release();
    const third = lendBytes('the third');
    expect([second, third].map(textOf)).to.deep.equal(['second', 'the third']);
    giveBack([second, third]);
  });

  it('may be more than a buffer has', () => {
    const text = 'ab'.repeat(megabyte);
    const parts = [lendBytes('a'), lendBytes(text), lendBytes('b')];
    expect(parts.map(textOf)).to.deep.equal(['a', text, 'b']);
    giveBack(parts);
  });
});
