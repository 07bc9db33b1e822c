import { Button, Group, TextInput } from '@mantine/core';
import type { FormEvent, ReactNode } from 'react';

interface QueryFormProps {
  label: string;
  placeholder: string;
  submit: string;
  /** What was asked before. */
  q: string | undefined;
  /** Whether nothing may be asked for, too. */
  isOptional?: boolean;
  /** Whether the line is empty once it was asked. */
  isEmptied?: boolean;
  onAsk: (q: string) => void;
  children?: ReactNode;
}

/** One line to ask in, and what says how below it. */
export function QueryForm({ label, placeholder, submit, q, isOptional = false, isEmptied = false, onAsk, children }: QueryFormProps) {
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const asked = String(new FormData(event.currentTarget).get('q') ?? '').trim();
    if (asked === '' && !isOptional) return;
    if (isEmptied) event.currentTarget.reset();
    onAsk(asked);
  };
  return (
    <form onSubmit={onSubmit} className="question">
      <Group align="flex-end" gap="sm" mb="sm">
        <TextInput
          key={q}
          name="q"
          type="search"
          label={label}
          placeholder={placeholder}
          defaultValue={q}
          maxLength={1000}
          required={!isOptional}
          className="grows"
        />
        <Button type="submit">{submit}</Button>
      </Group>
      {children}
    </form>
  );
}
