
export { };
