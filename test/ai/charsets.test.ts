import { expect } from 'chai';
import iconv from 'iconv-lite';
import { knownCharset } from '../../ai/formats/text/decode-text.ts';
import { charsets } from '../../contract/charsets.ts';
import { read } from './support/read.ts';

const readCsv = (bytes: Uint8Array) => read(bytes, 'text/csv');

/** A list of goods: most of what is in it is figures and ends of lines, so that a detector has little to go by. */
const goods = (head: string, first: string, others: string) =>
  [head, `1,${first},25`, ...Array.from({ length: 38 }, (_, row) => `${row + 2},${others},${row + 2}`), ''].join('\r\n');
const chinese = goods('产品编号,名称,库存', '蓝色手套', '防水靴子备件');
const japanese = goods('部品番号,品名,在庫', '青い手袋', '予備の部品');
const russian = goods('Артикул,Название,Остаток', 'Синие перчатки', 'Запасные сапоги');

const written: [charset: string, text: string][] = [
  ['gb18030', chinese],
  ['big5', '下次會議定於星期四晚上八點在大會議室舉行。'],
  ['shift_jis', japanese],
  ['euc-jp', japanese],
  ['euc-kr', '다음 회의는 목요일 저녁 여덟 시에 열립니다.'],
  ['windows-1251', russian],
  ['windows-1251', 'Засідання комісії відбудеться у п’ятницю о десятій годині.'],
  ['koi8-r', 'Протокол собрания садоводов. Забор починят в мае.\r\n'],
  ['ibm866', 'Собрание жильцов состоится в четверг в семь часов вечера.'],
  ['x-mac-cyrillic', 'Собрание жильцов состоится в четверг в семь часов вечера.'],
  ['windows-1250', 'Nazwa;Miasto\r\nŻółte rękawice;Łódź\r\nŚruba;Kraków\r\n'],
  ['cp852', 'Przesyłka została dostarczona wczoraj, lecz część towaru była uszkodzona.'],
  ['windows-1252', 'Größe;Straße – „Zitat“\r\n'],
  ['windows-1252', 'Name,Price\nCafé Zoë,£5'],
  ['cp850', 'Größe;Straße\r\nÜbung;Äpfel\r\n'],
  ['macintosh', 'Crème brûlée;Hôtel\rÉté;Noël\r'],
  ['windows-1253', 'Όνομα;Πόλη\r\nΓάντια;Αθήνα\r\n'],
  ['windows-1254', 'Adı;Şehir;Ücret\nAyşe Yılmaz;İzmir;50'],
  ['windows-1255', 'הישיבה תתקיים ביום חמישי בשעה שמונה בערב באולם הגדול.'],
  ['windows-1256', 'سيعقد الاجتماع يوم الخميس في الساعة الثامنة مساء.'],
  ['windows-1257', 'Vārds;Pilsēta;Cena\nJānis;Rīga;50'],
  ['windows-874', 'การประชุมจะจัดขึ้นในวันพฤหัสบดี เวลาแปดโมงเช้า'],
  ['utf-16le', japanese],
  ['utf-16be', 'plain words'],
  ['utf-32le', japanese],
];

const encoders: Record<string, string> = { gb18030: 'gbk', 'x-mac-cyrillic': 'maccyrillic' };

describe('The charset of a text that names none', () => {
  it('is found by its bytes', async () => {
    for (const [charset, text] of written) {
      const { text: found, notices = [] } = await readCsv(iconv.encode(text, encoders[charset] ?? charset));
      expect(found, charset).to.equal(text.replace(/\r\n?/g, '\n'));
      expect(notices.map(({ code }) => code)).to.deep.equal(['charset_guessed']);
      expect(notices[0]?.text).to.match(new RegExp(` read as ${charset} by .* confidence of \\d+ of 100\\.$`));
    }
  });

  it('is found by its escapes: ISO-2022-JP', async () => {
    const row = '\x1b$BItIJHV9f\x1b(B,\x1b$BIJL>\x1b(B,\x1b$B:_8K\x1b(B\r\n';
    const { text, notices } = await readCsv(Buffer.from(row, 'latin1'));
    expect(text).to.equal('部品番号,品名,在庫\n');
    expect(notices?.[0]?.text).to.contain('iso-2022-jp');
  });

  it('is found where the first letters beyond ASCII stand far behind its beginning', async () => {
    const plain = 'Rechnung;Betrag\n'.repeat(10_000);
    expect((await readCsv(iconv.encode(`${plain}Größe der Übergänge\n`, 'windows-1252'))).text).to.match(/\nGröße der Übergänge\n$/);
    const { text, notices } = await readCsv(Buffer.from(`${plain}Größe\n`));
    expect(text).to.match(/\nGröße\n$/);
    expect(notices).to.equal(undefined);
  });

  it('is that of its mark, of which nothing is said', async () => {
    for (const [charset, mark] of [
      ['utf-16le', [0xff, 0xfe]],
      ['utf-32le', [0xff, 0xfe, 0, 0]],
      ['utf-32be', [0, 0, 0xfe, 0xff]],
    ] as const) {
      const { text, notices } = await readCsv(Buffer.concat([Buffer.from(mark), iconv.encode('部品,a', charset)]));
      expect({ text, notices }, charset).to.deep.equal({ text: '部品,a', notices: undefined });
    }
    expect((await read('\ufeffnaïve', 'text/plain', { charset: 'iso-8859-1' })).text).to.equal('naïve');
  });

  it('is the declared one, of which nothing is said, also one that Node does not know', async () => {
    const { text, notices } = await read(iconv.encode('Größe', 'cp850'), 'text/plain', { charset: 'IBM850' });
    expect({ text, notices }).to.deep.equal({ text: 'Größe', notices: undefined });
    expect((await read('Größe', 'text/plain', { charset: 'base64' })).text).to.equal('Größe');
  });

  it('may be declared as any that the contract names', () => {
    for (const charset of charsets) expect(knownCharset(charset), charset).to.be.a('string');
  });

  it('of a page is found by its bytes, or by an element that stands late', async () => {
    const page = (head: string) => `<html><head>${head}<title>Протокол</title></head><body><p>Забор починят в мае.</p></body></html>`;
    const late = `${`<style>${'/* x */'.repeat(400)}</style><!-- <meta charset="big5"> -->`}<meta charset="windows-1251">`;
    for (const [head, said] of [
      ['', 1],
      [late, 0],
    ] as const) {
      const { text, notices = [] } = await read(iconv.encode(page(head), 'windows-1251'), 'text/html');
      expect(text).to.equal('Протокол\n\nЗабор починят в мае.');
      expect(notices).to.have.length(said);
    }
    const shiftJis = iconv.encode(page('').replace('Протокол', '部品の一覧').replace('Забор починят в мае.', '防水靴の在庫'), 'shift_jis');
    expect((await read(shiftJis, 'text/html')).text).to.equal('部品の一覧\n\n防水靴の在庫');
  });

  it('leaves signs that are not in it, and says how many', async () => {
    const broken = Buffer.concat([Buffer.from('größer, höher, weiter, schöner, früher '), Buffer.from([0xff])]);
    const { text, notices } = await readCsv(broken);
    expect(text).to.match(/früher \ufffd$/);
    expect(notices).to.deep.equal([{ code: 'signs_not_decoded', text: '1 sign is not in utf-8, and became U+FFFD.' }]);
  });
});
