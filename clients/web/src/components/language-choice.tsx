import { Button, type ButtonProps } from '@mantine/core';
import { chooseLanguage, languages, otherLanguages } from '../language.ts';

/** A button for each other language, in that language. */
export function LanguageChoice(props: ButtonProps) {
  return otherLanguages.map((each) => (
    <Button key={each} variant="subtle" lang={each} {...props} onClick={() => chooseLanguage(each)}>
      {languages[each]}
    </Button>
  ));
}
