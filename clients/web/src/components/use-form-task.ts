import type { FormEvent } from 'react';
import { t } from '../text.ts';
import { useTask } from './use-task.ts';

/** What a form does with the texts of its fields; `data` has those that are there several times. */
export type FormTask = (fields: Record<string, string>, data: FormData) => Promise<unknown>;

/** The boxes of a group that are checked: one at least, which no attribute of HTML asks for. */
export function chosenOf<T extends string>(data: FormData, name: string, what: string): T[] {
  const chosen = data.getAll(name) as T[];
  if (chosen.length === 0) throw new Error(t.common.chooseOne(what));
  return chosen;
}

/** A form that does one thing, and then calls `onShown` if it is still there. Until that is done the fields keep what was typed. */
export function useFormTask(task: FormTask, onShown?: () => void) {
  const mutationFn = (data: FormData) => {
    const texts = [...data].flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []));
    return task(Object.fromEntries(texts), data);
  };
  const { mutate, isPending, isSuccess, error } = useTask({ mutationFn }, onShown);
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    mutate(new FormData(event.currentTarget));
  };
  return { onSubmit, isPending, isSuccess, error };
}
