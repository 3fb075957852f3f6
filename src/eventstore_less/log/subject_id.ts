/** The ids of subjects as keys, lines and subjects hold them: without quotation marks, braces, blanks and slashes. */
export const SUBJECT_ID = /^[A-Za-z0-9._~:@+-]{1,100}$/;

/** What {@linkcode SUBJECT_ID} accepts, in words. */
export const SUBJECT_ID_FORM = "1 to 100 letters of ASCII, digits and characters of . _ ~ : @ + -";
