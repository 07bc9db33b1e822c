/** These packages ship no types. */

/** Lists of stop words, by names that begin with the ISO 639-3 code of the language. */
declare module 'stopword' {
  const lists: Record<string, string[]>;
  export default lists;
  export const dan: string[];
  export const deu: string[];
  export const eng: string[];
  export const fra: string[];
  export const ita: string[];
  export const nld: string[];
  export const por: string[];
  export const spa: string[];
  export const swe: string[];
}

declare module 'eld/extrasmall' {
  export const eld: {
    detect(text: string): { language: string; getScores(): Record<string, number>; isReliable(): boolean };
  };
}

/** `traditional simplified|traditional simplified …` for each character that has another form, the usual form first. */
declare module 'opencc-js/dict/TSCharacters' {
  const pairs: string;
  export default pairs;
}
