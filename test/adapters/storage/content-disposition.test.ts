import { expect } from 'chai';
import { parse } from 'content-disposition';
import { contentDisposition } from '../../../adapters/storage/content-disposition.ts';

describe('Content-Disposition of a download', () => {
  const names: [string, string][] = [
    ['report.pdf', 'attachment; filename=report.pdf'],
    ['my report.pdf', 'attachment; filename="my report.pdf"'],
    ['Résumé.pdf', `attachment; filename=Resume.pdf; filename*=UTF-8''R%C3%A9sum%C3%A9.pdf`],
    ['日本語.pdf', `attachment; filename=___.pdf; filename*=UTF-8''%E6%97%A5%E6%9C%AC%E8%AA%9E.pdf`],
    ['../../etc/passwd', `attachment; filename=__.._etc_passwd; filename*=UTF-8''..%2F..%2Fetc%2Fpasswd`],
    ['a"b\\c.txt', `attachment; filename=a_b_c.txt; filename*=UTF-8''a%22b%5Cc.txt`],
    ['50%41.txt', `attachment; filename=50_41.txt; filename*=UTF-8''50%2541.txt`],
    ['a\r\nSet-Cookie: b.txt', `attachment; filename="a__Set-Cookie_ b.txt"; filename*=UTF-8''a%0D%0ASet-Cookie%3A%20b.txt`],
  ];
  for (const [name, header] of names) {
    it(`of ${JSON.stringify(name)}`, () => {
      expect(contentDisposition(name)).to.equal(header);
      const { parameters } = parse(header);
      expect(parameters.filename).to.equal(name);
    });
  }

  it('survives half a surrogate pair and an empty name', () => {
    expect(contentDisposition('a\ud83d.txt')).to.equal(`attachment; filename=a_.txt; filename*=UTF-8''a%EF%BF%BD.txt`);
    expect(contentDisposition('')).to.match(/^attachment; filename=document/);
  });
});
