import { readFileSync } from 'node:fs';
import { parts } from '../../../../docs/examples/samples/handbook.ts';
import type { Collection } from '../support/collection.ts';
import { otherWords } from './other-words.ts';

/** What a workshop says of itself, a passage each. */
const german = [
  'Die Werkstatt der Orgelbauerin Frieda Klamroth liegt hinter der alten Mühle in Ebersroda. Sie baut im Jahr höchstens zwei Orgeln und stimmt achtzehn weitere.',
  'Gestimmt wird nur, wenn die Kirche seit zwei Tagen gleich warm ist. Ein Grad mehr macht die Zungenpfeifen um drei Schwingungen höher, während die Bleipfeifen kaum folgen.',
  'Die Bälge werden mit Schafleder abgedichtet, das vor dem Leimen zwei Stunden in lauwarmem Wasser liegt. Knochenleim aus der Kupferpfanne hält länger als jeder Kleber aus der Tube.',
  'Holzwürmer in der Windlade vertreibt die Meisterin mit Stickstoff: Das Gehäuse wird drei Wochen lang in Folie gehüllt, bis kein Sauerstoff mehr darin ist.',
  'Lehrlinge beginnen am ersten September. Im ersten Jahr gießen sie Zinnplatten auf einem Tisch aus Sand und Leinen und hobeln sie auf einen halben Millimeter.',
  'Die Rechnung für eine Wartung beträgt 480 Euro zuzüglich Anfahrt; sie trägt eine Nummer wie OK-2023-117 und ist binnen vierzehn Tagen zu zahlen.',
  'Die größte Pfeife der Werkstatt misst 4,80 Meter und liegt im Hof unter einem Dach, weil keine Tür für sie hoch genug ist.',
];

const french = [
  'Le phare de Kerlouan fut allumé en 1887. Son escalier compte deux cent treize marches de granit, et la dernière est usée par les bottes de quatre générations de gardiens.',
  'Le boulanger du village cuit au feu de hêtre. Il pétrit à trois heures du matin une pâte au levain qui a reposé dix-huit heures dans la cave.',
  'Les algues rouges sont récoltées à marée basse entre avril et octobre. Il faut laisser le pied sur le rocher, sinon elles ne repoussent pas avant cinq ans.',
  'Pour réparer un filet, on coupe les mailles abîmées en carré, puis on les refait avec une navette de buis et un fil de chanvre goudronné.',
  'La cidrerie presse douze variétés de pommes. Le premier jus est le plus clair ; le marc est rendu aux éleveurs, qui le donnent aux cochons.',
  'En cas de marée noire, la mairie sonne la cloche trois fois et les volontaires se retrouvent à la salle des fêtes avec des gants et des bottes.',
  'L’école enseigne le breton deux matins par semaine. La maîtresse, Madame Le Goff, a enregistré les contes de vingt-six anciens.',
];

const spanish = [
  'La cooperativa de aceite de Valdezarza recoge las aceitunas antes del amanecer, para que el calor no las fermente en los remolques.',
  'El molino trabaja en frío, por debajo de veintisiete grados. De cien kilos de aceitunas salen unos diecinueve litros de aceite.',
  'Los olivos viejos se podan en febrero, cada dos años. La leña gruesa se reparte entre los socios y las ramas finas se trituran en el campo.',
  'Contra la mosca del olivo colgamos botellas de plástico con vinagre y fosfato; una botella por árbol basta si se cambia cada tres semanas.',
  'El pozo nuevo tiene noventa y dos metros. La bomba funciona con placas solares y llena la balsa en seis horas de sol.',
  'La fiesta de la cosecha se celebra el segundo domingo de diciembre con migas, uvas y un concurso de catadores a ciegas.',
  'Los socios que no pueden asistir a la asamblea delegan su voto por escrito; nadie puede llevar más de tres votos ajenos.',
];

const japanese = [
  '山野町の和紙工房は、楮の皮を冬の川で三日間さらして白くする。冷たい水ほど紙は丈夫になる。',
  '紙を漉くときは、とろろあおいの根から取った粘液を水に混ぜる。これがないと繊維が沈んでしまう。',
  '漉いた紙は一晩重石をかけて水を切り、翌朝、銀杏の板に張って天日で乾かす。',
  '見学は毎週木曜日の午後二時からで、定員は八名。予約は電話でのみ受け付けている。',
  '障子紙は五年に一度張り替えるのがよい。古い糊は濡れた布を当てて十分待つとはがれる。',
  '工房の猫は紙の束の上で眠るので、仕上げの部屋には入れない。',
  '台風で屋根が壊れた年は、町の人々が瓦を一枚ずつ手渡しで運んだ。',
];

const texts = [...readSamples(), ...[german, french, spanish, japanese].flat(), ...otherWords.flatMap(({ distractors }) => distractors)];

const questions: Collection['questions'] = [
  ...readQuestions(),
  ...judge(german, [
    ['Wie lange wird das Gehäuse gegen Holzwürmer in Folie gehüllt?', 3],
    ['Leder für die Bälge einweichen', 2],
    ['Wann fangen die Lehrlinge an?', 4],
    ['Was kostet eine Wartung der Orgel?', 5],
    ['groesste Pfeife im Hof', 6],
  ]),
  ...judge(french, [
    ['combien de marches a l’escalier du phare', 0],
    ['A quelle heure le boulanger petrit-il la pate ?', 1],
    ['récolter les algues à marée basse', 2],
    ['comment réparer les mailles d’un filet', 3],
    ['que deviennent les restes des pommes pressées', 4],
  ]),
  ...judge(spanish, [
    ['¿Cuántos litros de aceite salen de cien kilos?', 1],
    ['cuando se podan los olivos', 2],
    ['trampas contra la mosca', 3],
    ['profundidad del pozo', 4],
    ['delegar el voto en la asamblea', 6],
  ]),
  ...judge(japanese, [
    ['見学の予約', 3],
    ['楮を川でさらす', 0],
    ['障子紙の張り替え', 4],
    ['紙を乾かす板', 2],
    ['猫', 5],
  ]),
  ...otherWords.flatMap((language) => language.questions.map(({ query, contains }) => ({ query, relevant: [findOne(contains)] }))),
];

/**
 * The samples and four small texts in German, French, Spanish and Japanese, with 42 questions, ten of them in other words than the text's.
 * Each passage is a document of one chunk.
 */
export const fiveLanguages: Collection = {
  name: 'samples in five languages',
  documents: texts.map((text, index) => ({ id: String(index), text })),
  questions,
};

function readSamples(): string[] {
  const files = ['beekeeping-notes.md', 'lighthouse-log.txt', 'seed-inventory.csv', 'ferry-timetable.html'];
  const paragraphs = files.flatMap((name) => {
    const text = readFileSync(new URL(`../../../../docs/examples/samples/${name}`, import.meta.url), 'utf8');
    const plain = name.endsWith('.html')
      ? text.replaceAll(/<(style|script)>[\s\S]*?<\/\1>|<[^>]+>/g, ' ').replaceAll('&rsquo;', '’')
      : text;
    return plain.split(name.endsWith('.csv') ? '\n' : /\n\s*\n/);
  });
  return [...paragraphs, ...parts.map(textOf)].map((text) => text.trim().replaceAll(/\s+/g, ' ')).filter((text) => text.length > 40);
}

function textOf(part: (typeof parts)[number]): string {
  if ('text' in part) return part.text;
  return 'items' in part ? part.items.join('\n') : part.rows.map((row) => row.join(' ')).join('\n');
}

/** The questions about the samples, which name a few words of what responds to them. */
function readQuestions(): Collection['questions'] {
  const file = new URL('../../../../docs/examples/samples/queries.json', import.meta.url);
  const written: { query: string; contains: string }[] = JSON.parse(readFileSync(file, 'utf8'));
  const samples = readSamples();
  return written.map(({ query, contains }) => {
    const relevant = samples.flatMap((text, index) => (text.includes(contains) ? [String(index)] : []));
    if (relevant.length === 0) throw new Error(`no passage of the samples contains “${contains}”`);
    return { query, relevant };
  });
}

/** The id of the one passage that contains a text. */
function findOne(contained: string): string {
  const found = texts.flatMap((text, index) => (text.includes(contained) ? [String(index)] : []));
  if (found[0] === undefined || found.length > 1) throw new Error(`${found.length} passages contain “${contained}”, not one`);
  return found[0];
}

/** Questions, each with the number of the passage that responds to it. */
function judge(passages: string[], asked: [query: string, passage: number][]): Collection['questions'] {
  const first =
    readSamples().length +
    [german, french, spanish, japanese].slice(0, [german, french, spanish, japanese].indexOf(passages)).flat().length;
  return asked.map(([query, passage]) => ({ query, relevant: [String(first + passage)] }));
}
