import { pick, type Random, randomOf } from '../../support/random.ts';

/** A document of 20 pages or more, which is made: what it says is known. */
interface LongDocument {
  name: string;
  text: string;
  /** Where each page begins, in characters. */
  pages: number[];
  facts: { question: string; answer: string; page: number }[];
}

const pagesPerDocument = 24;
const paragraphsPerPage = 5;

const places = [
  'the north quay',
  'the boat shed',
  'the pump house',
  'the upper dome',
  'the ice cellar',
  'the chart room',
  'the old mill',
  'the signal tower',
];
const people = ['Ada Halloran', 'Bram Olavsen', 'Cleo Tarn', 'Dorit Weir', 'Emil Brannock', 'Fenna Korvid', 'Goran Lisle', 'Hedda Moor'];
const things = ['pump', 'mirror', 'ladder', 'barometer', 'winch', 'lamp', 'boiler', 'generator', 'antenna', 'gate'];
const months = ['January', 'March', 'April', 'June', 'August', 'September', 'November', 'December'];

/** What each document says once, with what somebody asks who does not know its words. `#` is a number and `@` a name that only it has. */
const facts: [says: string, asks: string][] = [
  [
    'The deposit for the mooring is # crowns, payable before the first boat is tied up.',
    'How much has to be paid before a boat may be tied up?',
  ],
  ['@ keeps the spare key of the archive in a tin behind the stove.', 'Who keeps the spare key of the archive?'],
  [
    'Snow chains are compulsory on the quarry road from # metres upwards.',
    'From what height on are snow chains needed on the quarry road?',
  ],
  ['The emergency generator holds fuel for # hours at full load.', 'How long does the fuel of the emergency generator last?'],
  ['In the storm of 1953 the breakwater lost # blocks of granite.', 'How many granite blocks did the breakwater lose in the storm?'],
  ['Complaints about noise are to be sent to @ within two weeks.', 'To whom should complaints about noise be sent?'],
  ['The drinking water tank is cleaned every # days with citric acid.', 'How often is the drinking water tank cleaned?'],
  ['The insurance covers damage by hail up to # crowns a year.', 'Up to what sum is hail damage insured?'],
  [
    'The night ferry carries at most # passengers when the sea is rough.',
    'What is the limit of passengers on the night ferry in rough seas?',
  ],
  ['@ was the first to measure the depth of the harbour basin.', 'Who measured the depth of the harbour basin first?'],
  ['The lens of the lighthouse weighs # kilograms without its frame.', 'What is the weight of the lighthouse lens without the frame?'],
  ['Seedlings are moved to the cold frame after # weeks under glass.', 'When are seedlings moved to the cold frame?'],
  ['The radio watch changes every # minutes during fog.', 'In fog, how often does the radio watch change?'],
  ['@ signed for the delivery of the bronze bell.', 'Who signed when the bronze bell was delivered?'],
  ['The wall of the dry dock is # centimetres thick at its base.', 'How thick is the base of the dry dock wall?'],
];

/** Four documents with fifteen facts each, between sentences about the same things. The same in every run. */
export function makeLongDocuments(): LongDocument[] {
  return ['Harbour handbook', 'Station rules', 'Report of the trustees', 'Maintenance contract'].map((title, index) =>
    makeDocument(title, index),
  );
}

function makeDocument(title: string, index: number): LongDocument {
  const random = randomOf(1_000 + index);
  const own = facts.map(([says, asks], number) => {
    const answer = says.includes('@')
      ? `${pick(people, random).split(' ')[0]} ${title.split(' ')[0]}son`
      : String(31 + 7 * number + index * 113);
    return {
      sentence: says.replace(/[#@]/, answer),
      question: `${asks} (${title})`,
      answer,
      page: 1 + Math.floor(random() * pagesPerDocument),
    };
  });
  const pages: number[] = [];
  let text = '';
  for (let page = 1; page <= pagesPerDocument; page += 1) {
    pages.push(text.length);
    const paragraphs = Array.from({ length: paragraphsPerPage }, () => filler(random));
    for (const { sentence } of own.filter((fact) => fact.page === page)) {
      const place = Math.floor(random() * paragraphs.length);
      paragraphs.splice(place, 0, `${filler(random)} ${sentence} ${filler(random)}`);
    }
    text += `${title}\n\n${paragraphs.join('\n\n')}\n\n`;
  }
  return { name: `${title.toLowerCase().replaceAll(' ', '-')}.pdf`, text, pages, facts: own.map(({ sentence: _, ...fact }) => fact) };
}

/** A paragraph about nothing that is asked for, in words that are. */
function filler(random: Random): string {
  const number = () => 2 + Math.floor(random() * 90);
  const sentences = [
    () =>
      `The ${pick(things, random)} in ${pick(places, random)} was looked at in ${pick(months, random)}, and nothing had to be replaced.`,
    () =>
      `${pick(people, random)} asked whether the ${pick(things, random)} should be moved to ${pick(places, random)}; the board will decide next year.`,
    () => `About ${number()} visitors came to ${pick(places, random)} in ${pick(months, random)}, fewer than in the year before.`,
    () => `Nobody may leave the ${pick(things, random)} of ${pick(places, random)} running during a storm or at night.`,
    () => `The water in ${pick(places, random)} was clear again after ${number()} days, when the fog had gone.`,
    () => `Keys of ${pick(places, random)} are returned to ${pick(people, random)} before the ferry leaves.`,
    () => `For the ${pick(things, random)} the trustees set aside ${number() * 100} crowns, which were not spent.`,
    () => `The old road to ${pick(places, random)} is closed above the quarry when there is snow.`,
  ];
  return Array.from({ length: 4 }, () => pick(sentences, random)()).join(' ');
}
