import { TagsInput, type TagsInputProps } from '@mantine/core';
import { t } from '../text.ts';

/** Takes labels, one after the other. A label may have commas. */
export function TagsField(props: Pick<TagsInputProps, 'label' | 'value' | 'onChange' | 'size' | 'className'>) {
  return <TagsInput {...props} placeholder={props.value?.length ? '' : t.labels.placeholder} splitChars={[]} maxTags={50} maxLength={64} />;
}
