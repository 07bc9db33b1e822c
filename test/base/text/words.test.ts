import { expect } from 'chai';
import { fold, lower } from '../../../base/text/fold.ts';
import { koreanFormsOf } from '../../../base/text/korean.ts';
import { languageOf, languagesOf } from '../../../base/text/languages.ts';
import { stemOf } from '../../../base/text/stems.ts';
import { stopWordsOf } from '../../../base/text/stop-words.ts';
import { contentStemsOf, wordsOf } from '../../../base/text/words.ts';

const questions: Record<string, string> = {
  ar: 'كم عدد النقاط التي خسرها الفريق؟',
  de: 'Wie viele Punkte gab die Verteidigung ab?',
  el: 'Πόσους πόντους παρέδωσε η άμυνα;',
  en: 'How many points did the defense give up?',
  es: '¿Cuántos puntos cedió la defensa del equipo?',
  hi: 'टीम ने कितने अंक दिए?',
  ro: 'Câte puncte a cedat apărarea echipei?',
  ru: 'Сколько очков уступила защита команды?',
  th: 'ทีมรับเสียคะแนนไปเท่าไร',
  tr: 'Takım savunması kaç sayı bıraktı?',
  vi: 'Đội phòng thủ đã thua bao nhiêu điểm?',
};

describe('words', () => {
  it('have a stem also if every object has a property of that name', () => {
    for (const word of ['constructor', 'valueof', 'hasownproperty']) expect(stemOf(word, 'en'), word).to.be.a('string').and.not.equal('');
  });

  it('tells the language of a question', () => {
    for (const [language, question] of Object.entries(questions)) expect(languageOf(question), question).to.equal(language);
  });

  it('names all languages that a word may be of, and English for what tells nothing', () => {
    expect(languagesOf('Verträge')[0]).to.equal('de');
    expect(languagesOf('Wie lange gelten die Verträge?')).to.deep.equal(['de']);
    expect(languagesOf('die')).to.include.members(['de', 'nl']);
    expect(languagesOf('INV-2024-001')).to.deep.equal(['en']);
    expect(languageOf('INV-2024-001')).to.equal(undefined);
  });

  it('finds the same stem for the forms of a word', () => {
    const forms: [string, string, string][] = [
      ['en', 'contracts', 'contract'],
      ['en', 'children', 'child'],
      ['de', 'Häusern', 'Haus'],
      ['fr', 'résiliation', 'résiliations'],
      ['ru', 'договора', 'договором'],
      ['tr', 'sözleşmeler', 'sözleşme'],
      ['ro', 'contractele', 'contractelor'],
      ['el', 'συμβάσεις', 'σύμβασης'],
      ['hi', 'किताबें', 'किताब'],
      ['ar', 'المهندسون', 'مهندسين'],
      ['he', 'החוזה', 'חוזה'],
    ];
    for (const [language, one, other] of forms) expect(stemOf(lower(one), language), one).to.equal(stemOf(lower(other), language));
  });

  it('folds accents, except where they make another word', () => {
    expect(['Élève', 'Größe', 'ёлка', 'Łódź', 'ΣΊΣΥΦΟΣ'].map((word) => fold(lower(word)))).to.deep.equal([
      ...['eleve', 'grosse', 'елка', 'lodz', 'σισυφοσ'],
    ]);
    expect(fold('й')).to.equal('й');
    expect(stemOf('mạ', 'vi')).to.equal('mạ');
    expect(stemOf('élève', 'fr')).to.not.match(/\p{M}|é/u);
  });

  it('reads traditional characters as simplified ones, and digits of other scripts', () => {
    expect(lower('臺灣 國際')).to.equal(lower('台湾 国际'));
    expect(lower('٢٠٢٤')).to.equal('2024');
  });

  it('divides texts without spaces', () => {
    expect(wordsOf('合同编号 1,200')).to.deep.equal(['合同', '同编', '编号', '1200']);
    expect(wordsOf('สวัสดีครับ')).to.deep.equal(['สวัสดี', 'ครับ']);
  });

  it('knows what a Korean word may be a form of', () => {
    for (const [word, form] of [
      ['회의실에서는', '회의실'],
      ['값은', '값'],
      ['얼마입니까', '얼마'],
      ['신청하려면', '신청'],
      ['바꿔야', '바꾸다'],
      ['엽니까', '여다'],
      ['있습니까', '있다'],
    ] as const)
      expect(koreanFormsOf(word), word).to.include(form);
    expect(koreanFormsOf('휴가')).to.include('휴가');
  });

  it('has stop words for the languages that it can tell', () => {
    for (const language of Object.keys(questions)) expect(stopWordsOf(language).size, language).to.be.greaterThan(40);
    expect(stopWordsOf('el').has('και')).to.equal(true);
    expect(stopWordsOf('hi').has('कहाँ')).to.equal(true);
    expect(stopWordsOf(undefined).size).to.equal(0);
  });

  it('keeps what a question is about, and its stop words if it has nothing else', () => {
    expect(contentStemsOf('What are the contracts of the children?', 'en')).to.deep.equal(['contract', 'child']);
    expect(contentStemsOf('the who', 'en')).to.deep.equal(['the', 'who']);
  });
});
