/** Questions of one language that use other words than the passage that responds, and passages that use theirs and do not respond. */
interface OtherWords {
  distractors: string[];
  /** `contains` stands in the one passage that responds. */
  questions: { query: string; contains: string }[];
}

const english: OtherWords = {
  distractors: [
    'The groom leads the mare past the bandstand, where a brass band performs. No bride has asked for her since the ceremony of the mayor was moved indoors.',
    'On a holiday the tower of the town hall is open from ten. Something tasty is sold on every landing, and all of it is eaten before the bell strikes.',
    'The pier master counts who goes aboard, writes the number on a slate and wipes it off at night.',
  ],
  questions: [
    { query: 'Who performs the ceremony for a bride and groom aboard?', contains: 'is licensed to marry couples' },
    { query: 'What was eaten on the holiday in the tower, and was it tasty?', contains: 'For dinner a gannet' },
  ],
};

const german: OtherWords = {
  distractors: [
    'Wer den Betrag für das Sommerlager nicht überweisen kann, bittet den Verein um eine längere Frist. Bisher muss niemand zu Hause bleiben.',
    'Die Kapelle am Fluss wird seit dem Herbst elektrisch beheizt. Sind die letzten Töne des Chors verklungen, geht man schweigend auseinander.',
    'Der Tischler im Nachbardorf verglast Fenster und zimmert im Winter Kisten, in denen Äpfel plötzlich nicht mehr faulen.',
  ],
  questions: [
    { query: 'Innerhalb welcher Frist muss ich den Betrag überweisen?', contains: 'binnen vierzehn Tagen' },
    { query: 'Warum bringt eine plötzlich beheizte Kapelle die Töne auseinander?', contains: 'Gestimmt wird nur' },
  ],
};

const french: OtherWords = {
  distractors: [
    'Le signal du passage à niveau appelle à la prudence : le train de pétrole traverse la dune deux fois par jour, et les habitants le regardent de la plage.',
    'Dans le jardin du presbytère, il faut arracher le chardon avec sa racine, car la plante revient même après un été sans pluie.',
    'La marine nationale a rendu au bourg une ancre rouillée que les enfants appellent le squelette.',
  ],
  questions: [
    { query: 'Quel signal appelle les habitants quand du pétrole souille la plage ?', contains: 'marée noire' },
    { query: 'Pourquoi ne pas arracher la plante marine avec sa racine ?', contains: 'algues rouges' },
  ],
};

const spanish: OtherWords = {
  distractors: [
    'En la lonja se madruga tanto por costumbre que nadie recuerda la razón. El fruto del mar se subasta sin recolectar firmas ni recibos.',
    'El agua del río sube en abril, cuando viene el deshielo, y los vecinos vacían los sótanos con energía y mal humor.',
    'El horno comunal gasta más energía que todas las casas de la plaza, y nadie sabe de dónde saldrá el dinero.',
  ],
  questions: [
    { query: '¿Por qué se madruga tanto para recolectar el fruto?', contains: 'antes del amanecer' },
    { query: '¿De dónde viene la energía que sube el agua?', contains: 'placas solares' },
  ],
};

const japanese: OtherWords = {
  distractors: [
    '嵐のあとの海岸では、住民の子どもたちが貝殻を拾い、家の窓辺に並べて色をくらべる。',
    '味噌の樽では、材料が底にたまるように重い蓋を置く。塩のほかには何も加えない。',
    '家の材料になる杉は、住民が三十年かけて育てた山から切り出される。',
  ],
  questions: [
    { query: '嵐のあと、住民はどうやって家を直しましたか', contains: '台風' },
    { query: '材料が底にたまらないように何を加えますか', contains: 'とろろあおい' },
  ],
};

/** Two questions and three passages in each language of the samples and the small texts. */
export const otherWords: OtherWords[] = [english, german, french, spanish, japanese];
