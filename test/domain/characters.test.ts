import { expect } from 'chai';
import { back, countCharacters, forward } from '../../domain/characters.ts';

const texts = ['', 'plain', 'naïve 望遠鏡', 'a😀b', '😀😀😀', 'ab😀cd', 'ends with 😀', '😀 begins'];

/** Where each character begins, and where the text ends. */
const placesOf = (text: string) => [...text, ''].map((_, place) => [...text].slice(0, place).join('').length);

describe('Characters of a text', () => {
  for (const text of texts) {
    it(`are counted and passed by code points in ${JSON.stringify(text)}`, () => {
      const places = placesOf(text);
      const last = places.length - 1;
      expect(countCharacters(text)).to.equal(last);
      for (const [place, index] of places.entries()) {
        for (let count = 0; count <= last + 2; count++) {
          expect(forward(text, index, count), `${count} after ${index}`).to.equal(places[Math.min(last, place + count)]);
          expect(back(text, index, count), `${count} before ${index}`).to.equal(places[Math.max(0, place - count)]);
        }
        expect(forward(text, index, -1)).to.equal(index);
        expect(back(text, index, -1)).to.equal(index);
      }
    });
  }
});
