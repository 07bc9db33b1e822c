/** The languages of the console, each by its own name. */
export const languages = { en: 'English', de: 'Deutsch' };

export type Language = keyof typeof languages;

const isLanguage = (value: unknown): value is Language => typeof value === 'string' && Object.hasOwn(languages, value);

/** The language that was chosen in this browser; else the first of the browser's own that there is; else English. */
export const language: Language =
  [localStorage.getItem('language'), ...navigator.languages.map((tag) => tag.split('-')[0])].find(isLanguage) ?? 'en';

document.documentElement.lang = language;

/** Chooses the language of this browser, and loads the page anew in it. */
export function chooseLanguage(chosen: Language): void {
  localStorage.setItem('language', chosen);
  window.location.reload();
}

export const otherLanguages = (Object.keys(languages) as Language[]).filter((each) => each !== language);
