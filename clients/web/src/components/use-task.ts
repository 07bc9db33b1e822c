import { type UseMutationOptions, useMutation } from '@tanstack/react-query';
import { useRef } from 'react';

/** Something that is done once at a time: a second click may come before its button is drawn as busy. */
export function useTask<T = void>(options: UseMutationOptions<unknown, Error, T>) {
  const isRunning = useRef(false);
  const { mutate, ...state } = useMutation(options);
  const begin = (input: T) => {
    if (isRunning.current) return;
    isRunning.current = true;
    mutate(input, {
      onSettled: () => {
        isRunning.current = false;
      },
    });
  };
  return { ...state, mutate: begin };
}
