import{c as a,d as b}from"/console/assets/chunk-JUJUEIQR.js";import"/console/assets/chunk-SG5MQGN3.js";import"/console/assets/chunk-PTG54RR3.js";export{b as read,a as signedBody};
