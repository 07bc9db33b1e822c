import { expect } from 'chai';
import { judge } from '../../adapters/webhooks/judge.ts';
import { readRetryAfterMs } from '../../base/retry-after.ts';
import { parseRetryAfter } from '../../clients/typescript/retry-after.ts';

/** Every reader of the header. */
const readers = {
  'the service': readRetryAfterMs,
  'the TypeScript client': parseRetryAfter,
  'a sender of webhooks': (header: string | null | undefined) =>
    judge({ status: 503, body: '', retryAfter: header ?? undefined }).retryAfterMs,
};

/** The longest time of a timer. */
const longestMs = 2 ** 31 - 1;

for (const [name, read] of Object.entries(readers)) {
  describe(`Retry-After, as read by ${name}`, () => {
    it('is a date in each form of HTTP, and one without a zone is in GMT', () => {
      const zoneBefore = process.env.TZ;
      try {
        process.env.TZ = 'America/New_York';
        const [day, date, month, year, time] = new Date(Date.now() + 7_200_000).toUTCString().split(/[ ,]+/);
        for (const form of [
          `${day}, ${date} ${month} ${year} ${time} GMT`,
          `${day}day, ${date}-${month}-${year?.slice(2)} ${time} GMT`,
          `${day} ${month} ${date?.replace(/^0/, ' ')} ${time} ${year}`,
          `${day}, ${date} ${month} ${year} ${time} +0000`,
        ])
          expect(read(form), form).to.be.within(7_100_000, 7_200_000);
      } finally {
        if (zoneBefore === undefined) delete process.env.TZ;
        else process.env.TZ = zoneBefore;
      }
    });

    it('is seconds or a date, or nothing that is known', () => {
      const at = (ms: number) => new Date(Date.now() + ms).toUTCString();
      expect([read('3'), read(' 0 '), read('1.5')]).to.deep.equal([3_000, 0, 1_500]);
      expect(read(at(60_000))).to.be.within(50_000, 60_000);
      expect(read(at(-60_000))).to.equal(0);
      for (const nothing of [undefined, null, '', ' ', '-1', '1e3', '0x10', 'soon', 'soon enough', '2026-11-23T00:00:00Z'])
        expect(read(nothing), String(nothing)).to.equal(undefined);
    });

    it('is never longer than a timer can wait', () => {
      for (const huge of ['9'.repeat(10), '9'.repeat(400), 'Fri, 31 Dec 9999 23:59:59 GMT']) expect(read(huge), huge).to.equal(longestMs);
    });
  });
}
