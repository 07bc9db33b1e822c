/** The package ships no types. Each list is in lower case. */
declare module 'stopword' {
  export const eng: string[];
  export const deu: string[];
  export const fra: string[];
  export const spa: string[];
  export const ita: string[];
  export const por: string[];
  export const nld: string[];
  export const swe: string[];
  export const dan: string[];
}
