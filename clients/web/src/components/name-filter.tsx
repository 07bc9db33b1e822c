import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useRef } from 'react';
import { t } from '../text.ts';

/** How long nothing is typed before what is typed is looked for. */
const pauseMs = 300;

interface NameFilterProps {
  name: string | undefined;
  onChange: (name: string | undefined) => void;
}

/** Narrows documents to those whose name contains what is typed. */
export function NameFilter({ name = '', onChange }: NameFilterProps) {
  const field = useRef<HTMLInputElement>(null);
  const send = useDebouncedCallback((typed: string) => onChange(typed.trim() || undefined), pauseMs);
  // A link may lead to the same page without a name. What is being typed is newer than the address.
  useEffect(() => {
    if (field.current && field.current !== document.activeElement) field.current.value = name;
  }, [name]);
  return (
    <TextInput
      ref={field}
      type="search"
      size="xs"
      label={t.documents.nameFilter}
      defaultValue={name}
      maxLength={200}
      onChange={({ currentTarget: { value } }) => send(value)}
    />
  );
}
