import { Group, NativeSelect } from '@mantine/core';
import { type ContentType, contentTypesByExtension } from '@sheaf/client';
import type { ReactNode } from 'react';
import { useEndings } from '../taken-types.ts';
import { t } from '../text.ts';
import { TagsField } from './tags-field.tsx';

/** Which documents are listed or searched, as it stands in an address. */
export interface DocumentFilter {
  /** All of these labels. */
  tags?: string[] | undefined;
  /** The ending of a kind of file: `pdf`. */
  type?: string | undefined;
}

export function typeOf(ending: string | undefined): ContentType | undefined {
  return ending !== undefined && Object.hasOwn(contentTypesByExtension, ending) ? contentTypesByExtension[ending] : undefined;
}

interface DocumentFilterProps extends DocumentFilter {
  onChange: (filter: DocumentFilter) => void;
  /** What stands before the fields. */
  children?: ReactNode;
}

/** Narrows documents to those that have all of some labels, and to a kind of file. */
export function DocumentFilterFields({ tags = [], type, onChange, children }: DocumentFilterProps) {
  const kinds = useEndings().kinds.map((value) => ({ value, label: value.toUpperCase() }));
  return (
    <Group gap="sm" mb="sm" align="flex-end">
      {children}
      <TagsField size="xs" className="grows" label={t.labels.filter} value={tags} onChange={(next) => onChange({ type, tags: next })} />
      <NativeSelect
        size="xs"
        label={t.labels.type}
        data={[{ value: '', label: t.common.all }, ...kinds]}
        value={typeOf(type) ? type : ''}
        onChange={({ currentTarget: { value } }) => onChange({ tags, type: value || undefined })}
      />
    </Group>
  );
}
