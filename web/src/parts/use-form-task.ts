import { useMutation } from '@tanstack/react-query';
import type { FormEvent } from 'react';

/** A form that does one thing with the texts of its fields. While that runs, and after it has failed, the fields keep what was typed. */
export function useFormTask(task: (fields: Record<string, string>) => Promise<void>) {
  const { mutate, isPending, error } = useMutation({ mutationFn: task });
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const entries = [...new FormData(event.currentTarget)].flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []));
    mutate(Object.fromEntries(entries));
  };
  return { onSubmit, isPending, error };
}
