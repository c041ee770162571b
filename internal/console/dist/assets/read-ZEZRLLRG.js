import{c as a,d as b}from"/console/assets/chunk-ULUYDTLV.js";import"/console/assets/chunk-3S5WJPIJ.js";import"/console/assets/chunk-KXZ7XQPZ.js";export{b as read,a as signedBody};
