import { Button, type ButtonProps } from '@mantine/core';
import { chooseLanguage, type Language, language, languages } from '../language.ts';

/** A button for each other language, in that language. */
export function LanguageChoice(props: ButtonProps) {
  return (Object.keys(languages) as Language[])
    .filter((each) => each !== language)
    .map((each) => (
      <Button key={each} variant="subtle" lang={each} {...props} onClick={() => chooseLanguage(each)}>
        {languages[each]}
      </Button>
    ));
}
