import { TextInput } from '@mantine/core';
import { t } from '../text.ts';

/** Asks for a text to be typed once more, before something that cannot be undone. The form is not sent without it. */
export function TypedAgain({ text, label, name }: { text: string; label: string; name?: string }) {
  return (
    <TextInput
      label={label}
      description={text}
      name={name}
      required
      autoComplete="off"
      onChange={({ currentTarget: field }) => field.setCustomValidity(field.value === text ? '' : t.common.typed(text))}
    />
  );
}
